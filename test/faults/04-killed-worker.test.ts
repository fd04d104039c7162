import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FULL, share } from '../scale.ts';
import { WORKER_POINTS } from './seeded-plan.ts';
import { NETWORKS, type Network, World } from './world.ts';

let world: World;

beforeAll(async () => {
  world = await World.open({ servers: 1, workers: 1 });
}, 120_000);
afterAll(() => world?.close());

/** Rows 4, 5 and 6 are the three networks. A run in CI visits half of the points on one of them each; test/live has others. */
const ROWS = share(WORKER_POINTS, 1, 2).flatMap((point, i) =>
  (FULL ? NETWORKS : [NETWORKS[i % NETWORKS.length] as Network]).map((network) => ({
    row: 4 + NETWORKS.indexOf(network),
    network,
    point,
  })),
);

test.each(ROWS)(
  'fault $row: a worker that dies at $point pays on $network once',
  { timeout: 60_000 },
  async ({ network, point }) => {
    await world.worker.kill();
    await world.worker.start({ crashPoint: point });
    const items = [...world.items(network, 2), ...world.items(network, 1, { to: 'fail' })];
    const batchId = await world.merchant.create(items);
    await world.merchant.submit(batchId);
    while (world.worker.isUp) {
      await world.controlChain(network, { mine: 40 });
      await sleep(50);
    }
    expect(await world.worker.ended).toEqual({ signal: 'SIGKILL', code: null });
  },
);

test('fault 4: after all of it every item was paid once or given back', { timeout: 150_000 }, async () => {
  expect(await world.judge()).toEqual([]);
  const rows = await world.database.query<{ status: string; n: number }>(
    'select status, count(*)::int as n from payout_item group by status order by status',
  );
  expect(rows).toEqual([
    { status: 'failed', n: ROWS.length },
    { status: 'succeeded', n: 2 * ROWS.length },
  ]);
});
