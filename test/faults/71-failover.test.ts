import { afterAll, beforeAll, expect, test } from 'vitest';
import { scaled } from '../scale.ts';
import { adoptUnchecked } from './adopt-unchecked.ts';
import { underLoad } from './load.ts';
import { Replica } from './replica.ts';
import { NETWORKS, World } from './world.ts';

let world: World;
let replica: Replica;

beforeAll(async () => {
  world = await World.open({ servers: 2, workers: 1 });
  replica = await Replica.of(world, true);
}, 180_000);
afterAll(async () => {
  await world?.close();
  await replica?.close();
});

const BATCHES = scaled(500, 20);

test('fault 71: the database is lost for good and its synchronous replica takes over: nothing acknowledged is lost', {
  timeout: 300_000 + BATCHES * 2_000,
}, async () => {
  const load = underLoad(4, async (turn) => {
    const network = NETWORKS[turn % NETWORKS.length] ?? 'erc20';
    await world.merchant.submit(await world.merchant.create(world.items(network, 1)));
  });
  await expect
    .poll(() => world.merchant.submitted.size, { timeout: 30_000 + BATCHES * 2_000 })
    .toBeGreaterThanOrEqual(BATCHES);
  // Who has signed nothing is held for nobody: a worker that signs first meanwhile would be taken for another database.
  const isHeld = () => world.chain.query('select from simchain.holder');
  await expect.poll(isHeld, { timeout: 60_000 }).not.toEqual([]);
  await world.killDatabase();
  await replica.promote();
  // Nothing can be missing, which the operator knows and the service does not.
  expect(await adoptUnchecked(world)).toEqual({ adopted: true, agreed: 2, required: 2 });
  const before = world.merchant.submitted.size;
  await expect.poll(() => world.merchant.submitted.size, { timeout: 60_000 }).toBeGreaterThan(before);
  await load.end();
  expect(await world.judge()).toEqual([]);
});
