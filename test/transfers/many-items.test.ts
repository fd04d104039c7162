import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { scaled } from '../scale.ts';
import { startService, type TestService } from '../service.ts';
import { expectPaidOnce, type Item, NETWORKS, newPayout, statusOf } from './payouts.ts';

const ITEMS = 200;
const GROUP_OF = { erc20: 200, trc20: 1, spl: 8 } as const;

let service: TestService;
beforeAll(async () => {
  service = await startService({ worker: true });
});
afterAll(() => service.stop());

/** A small generator whose seed can be given again (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const itemsWhere = (fails: (index: number) => boolean): Item[] =>
  Array.from({ length: ITEMS }, (_, i) => ({
    to: fails(i) ? 'fail' : 'succeed',
    amount: (1 + i / 100).toFixed(2),
  }));

async function runBatch(network: (typeof NETWORKS)[number], items: Item[]) {
  const payout = await newPayout(service, network, items);
  await expect
    .poll(() => statusOf(payout), { timeout: 60_000, interval: 250 })
    .toMatch(/^(partially_)?completed$/);
  const failed = items.filter((item) => item.to === 'fail').length;
  expect(await payout.merchant.sdk.payouts.retrieve(payout.batchId)).toMatchObject({
    status: failed === 0 ? 'completed' : 'partially_completed',
    success_count: ITEMS - failed,
    failed_count: failed,
    frozen_amount: '0.00',
  });
  await expectPaidOnce(service, [payout]);
  return payout;
}

test.each(NETWORKS)(
  'J6: one bad address among 200 items fails alone on %s',
  async (network) => {
    const payout = await runBatch(
      network,
      itemsWhere((i) => i === 100),
    );
    const rows = await asOwner<{ size: number; count: number }>(
      service,
      `select cardinality(item_ids) as size, count(*)::integer as count from transfer_attempt
     where merchant_id = $1 group by 1 order by 1 desc`,
      [payout.merchant.merchantId],
    );
    const group = GROUP_OF[network];
    const whole = [{ size: group, count: ITEMS / group }];
    // Where one fails all, its group is tried again one by one.
    expect(rows).toEqual(network === 'spl' ? [...whole, { size: 1, count: group }] : whole);
  },
  90_000,
);

test.each(NETWORKS)(
  'fault 59: on %s a random third of 200 items fail: counts and money add up',
  async (network) => {
    for (let round = 0; round < scaled(100, 1); round++) {
      const seed = randomInt(2 ** 31);
      console.info(`fault 59 on ${network}: seed ${seed}`);
      const next = random(seed);
      const failing = Array.from({ length: ITEMS }, () => next() < 0.3);
      const payout = await runBatch(
        network,
        itemsWhere((i) => failing[i] ?? false),
      );
      expect(await statusOf(payout)).toBe('partially_completed');
    }
  },
  90_000 * scaled(100, 1),
);

test('I1: after all of it ledger and chains agree', () => expectLedgerWhole(service));
