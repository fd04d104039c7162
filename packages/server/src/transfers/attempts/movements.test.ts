import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { explain } from '../../../../../test/explain.ts';
import { openPlatform } from '../../../../../test/platform.ts';
import { newId } from '../../platform/db/ids/index.ts';
import type { Platform } from '../../platform/platform.ts';
import { countUnderWay } from '../wallets/index.ts';
import { openingsOfDay, topUpsOfDay } from './movements.ts';

const DAY = 86_400;
const NOW = 1_000_000_000;
const of = { merchantId: newId(), network: 'trc20', nowSeconds: NOW } as const;
let platform: Platform;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ platform, close } = await openPlatform());
  // One an hour for years, the last one now; then one that is open, and some of a clock that ran ahead by up to ten hours.
  await sql`
    insert into transfer_attempt (merchant_id, attempt_id, group_id, network, currency, key_ref, sender, status, item_ids, movement,
      openings, created_at, completed_at)
    select ${of.merchantId}, gen_random_uuid(), gen_random_uuid(), 'trc20', 'USDT', 'tank', 'tank', 'succeeded', '{}',
      '{"kind": "gas", "amount": "1"}', 1, 1, ${NOW} - 3600 * n
    from generate_series(-10, 20000) as n`.execute(platform.db);
  await sql`
    insert into transfer_attempt (merchant_id, attempt_id, group_id, network, currency, key_ref, sender, ordinal, status, item_ids,
      movement, openings, created_at)
    values (${of.merchantId}, gen_random_uuid(), gen_random_uuid(), 'trc20', 'USDT', 'tank', 'tank', 1, 'reserved', '{}',
      '{"kind": "gas", "amount": "100"}', 100, 1)`.execute(platform.db);
  await sql`vacuum analyze transfer_attempt`.execute(platform.db);
});
afterAll(() => close());

test.each([
  ['top-ups', topUpsOfDay, 'transfer_attempt_top_ups'],
  ['openings', openingsOfDay, 'transfer_attempt_openings'],
])('the %s of a day are summed without reading the history', async (_name, statement, index) => {
  const { rows } = await statement(of).execute(platform.db);
  // What is open counts, and so does what a clock has completed that was set right meanwhile.
  expect(rows).toEqual([{ total: String(100 + 10 + DAY / 3_600) }]);
  const plan = await explain(platform.db, statement(of));
  expect(new Set(plan.flatMap((node) => node['Index Name'] ?? []))).toEqual(new Set([index]));
  for (const node of plan) expect(node['Actual Rows']).toBeLessThanOrEqual(40);
});

test('what is on its way is counted by what it moves: a charge is no payment, whoever sends it', async () => {
  const merchantId = newId();
  const kinds = [
    ['hot', 'payout_item', null],
    ['hot', 'charge', '{}'],
    ['tank', 'charge', '{}'],
    ['deposit:1', 'sweep', null],
  ] as const;
  for (const [place, [keyRef, owner, charge]] of kinds.entries()) {
    const id = newId();
    await sql`
      insert into transfer (merchant_id, transfer_id, owner_type, owner_id, group_id, place, network, currency, key_ref, address,
        amount, status, charge, created_at)
      values (${merchantId}, ${id}, ${owner}, ${id}, ${id}, ${place}, 'trc20', 'USDT', ${keyRef}, 'T', 1, 'queued',
        ${charge}::jsonb, 1)`.execute(platform.db);
    await sql`
      insert into transfer_attempt (merchant_id, attempt_id, group_id, network, currency, key_ref, sender, ordinal, status,
        item_ids, created_at)
      values (${merchantId}, ${newId()}, ${id}, 'trc20', 'USDT', ${keyRef}, ${keyRef}, ${place}, 'reserved',
        ${[id]}::uuid[], 1)`.execute(platform.db);
  }
  const counted = await countUnderWay(platform.db, merchantId);
  expect(counted.map(({ kind, count }) => [kind, count])).toEqual([
    ['charge', 2],
    ['payment', 1],
    ['sweep', 1],
  ]);
});
