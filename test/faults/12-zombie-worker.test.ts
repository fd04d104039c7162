import { afterAll, beforeAll, expect, test } from 'vitest';
import { FULL } from '../scale.ts';
import { WORKER_POINTS } from './seeded-plan.ts';
import { NETWORKS, type Network, World } from './world.ts';

let world: World;

beforeAll(async () => {
  world = await World.open({ servers: 1, workers: 0 });
}, 120_000);
afterAll(() => world?.close());

/** In CI: with its transaction open, with bytes that nobody else has, and about to send. */
const POINTS = FULL ? WORKER_POINTS : (['process.before-commit', 'build.after', 'broadcast.before'] as const);
const WITHOUT_LEASE = 'a run ended without its lease';
const POLL = { timeout: 180_000, interval: 500 };

async function standStill(point: string, network: Network): Promise<string> {
  const zombie = await world.addNode('work');
  await zombie.start({ stopPoint: point });
  const items = [...world.items(network, 2), ...world.items(network, 1, { to: 'fail' })];
  const batchId = await world.merchant.create(items);
  await world.merchant.submit(batchId);
  const stands = async () => {
    await world.controlChain(network, { mine: 40 });
    return zombie.isStopped;
  };
  await expect.poll(stands, { timeout: 60_000, interval: 50 }).toBe(true);
  return batchId;
}

test(`fault 12: ${POINTS.length} workers stop, are overtaken when their leases end, and go on: all they write hits nothing`, {
  timeout: 600_000,
}, async () => {
  const batches: string[] = [];
  for (const [i, point] of POINTS.entries()) {
    batches.push(await standStill(point, NETWORKS[(i + 1) % NETWORKS.length] ?? 'erc20'));
  }
  const zombies = [...world.workers];
  const worker = await world.addNode('work');
  await worker.start();
  const open = async () => {
    for (const network of NETWORKS) await world.controlChain(network, { mine: 40 });
    const states = await Promise.all(
      batches.map((id) => world.merchant.insist('GET', `/payout-batches/${id}`)),
    );
    return states.filter(({ status }) => status !== 'partially_completed').map(({ status }) => status);
  };
  await expect.poll(open, POLL).toEqual([]);
  // Each is where it was: nobody but the new worker has brought them to their end.
  expect(zombies.filter((zombie) => !zombie.isStopped)).toEqual([]);
  for (const zombie of zombies) zombie.signal('SIGCONT');
  const unaware = () =>
    zombies
      .filter((zombie) => !zombie.log.some((line) => line.includes(WITHOUT_LEASE)))
      .map(({ name }) => name);
  await expect.poll(unaware, POLL).toEqual([]);
  expect(zombies.every((zombie) => zombie.isUp)).toBe(true);
  expect(await world.judge()).toEqual([]);
});
