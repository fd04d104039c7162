import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { share } from '../scale.ts';
import { DEPOSIT_POINTS } from './seeded-plan.ts';
import { NETWORKS, type Network, World } from './world.ts';

const TOKEN = 1_000_000;

let world: World;

beforeAll(async () => {
  world = await World.open({ servers: 1, workers: 1 });
}, 120_000);
afterAll(() => world?.close());

/** The first pass is of money that is seen or already final, the later ones of what came of it. */
const PASSES = [1, 2, 3];
const ROWS = DEPOSIT_POINTS.flatMap((point, i) =>
  share(PASSES, i, 2).map((pass) => ({
    at: `${point}:${pass}`,
    network: NETWORKS[(i + pass) % 3] as Network,
  })),
);

test.each(ROWS)(
  'fault 7: a watcher that dies at $at on $network loses and doubles nothing',
  { timeout: 120_000 },
  async ({ at, network }) => {
    await world.worker.kill();
    await world.worker.start({ crashPoint: at });
    for (let i = 1; world.worker.isUp; i++) {
      const session = await world.merchant.openSession(i * TOKEN);
      const parts = i % 3 === 0 ? { transfers: 2 } : {};
      await world.merchant.pay(session, {
        currency: 'USDT',
        network,
        final: false,
        amount: i * TOKEN,
        ...parts,
      });
      await world.controlChain(network, { mine: 3 });
      await sleep(50);
    }
    expect(await world.worker.ended).toEqual({ signal: 'SIGKILL', code: null });
  },
);

test('fault 7: after all of it each transfer was credited once and each payment is completed', {
  timeout: 150_000,
}, async () => {
  expect(await world.judge()).toEqual([]);
  const rows = await world.database.query<{ status: string; transfers: number }>(
    `select p.status, count(t.tx_id)::int as transfers from payment p
     left join payment_transaction t using (merchant_id, payment_id) group by p.payment_id, p.status`,
  );
  const paid = rows.filter(({ transfers }) => transfers > 0);
  expect(paid.length).toBeGreaterThanOrEqual(ROWS.length);
  expect(new Set(paid.map(({ status }) => status))).toEqual(new Set(['completed']));
});
