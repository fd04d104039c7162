import { afterAll, beforeAll, expect, test } from 'vitest';
import { World } from '../faults/world.ts';

let world: World;

beforeAll(async () => {
  world = await World.open({ servers: 2, workers: 1 });
}, 120_000);
afterAll(() => world?.close());

const CREATED = { status: 200 };
const LOGGED = `select count(*)::int as n from request_log where route = '/api/v1/payout-batches' and method = 'POST'`;
const logged = async () => (await world.database.query<{ n: number }>(LOGGED))[0]?.n ?? 0;
const batches = async () => await world.database.query('select batch_id from payout_batch');

test('a server that is killed loses what it had not written of the log, and nothing else', {
  timeout: 180_000,
}, async () => {
  const create = async (node: number) =>
    await world.merchant.request('POST', '/payout-batches', {
      body: { currency: 'USDT', items: world.items('erc20', 1) },
      idempotencyKey: crypto.randomUUID(),
      node,
    });
  const early = await Promise.all(Array.from({ length: 10 }, () => create(0)));
  for (const answer of early) expect(answer).toMatchObject(CREATED);
  await expect.poll(logged, { timeout: 60_000 }).toBe(10);

  const late = await Promise.all(Array.from({ length: 10 }, () => create(0)));
  await world.server.kill();
  for (const answer of late) expect(answer).toMatchObject(CREATED);
  // Every batch that was answered is there; of the log at most what waited is missing.
  expect(await batches()).toHaveLength(20);
  const afterKill = await logged();
  expect(afterKill).toBeGreaterThanOrEqual(10);
  expect(afterKill).toBeLessThanOrEqual(20);

  expect(await create(1)).toMatchObject(CREATED);
  await world.server.start();
  expect(await create(0)).toMatchObject(CREATED);
  await expect.poll(logged, { timeout: 60_000 }).toBe(afterKill + 2);

  // A shutdown loses nothing.
  const last = await Promise.all(Array.from({ length: 10 }, () => create(0)));
  await world.server.stop();
  for (const answer of last) expect(answer).toMatchObject(CREATED);
  expect(await logged()).toBe(afterKill + 12);
  await world.server.start();
});
