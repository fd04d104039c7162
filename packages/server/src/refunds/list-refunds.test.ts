import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../../../test/database.ts';
import { explain } from '../../../../test/explain.ts';
import { newId } from '../platform/db/ids/index.ts';
import { connect, type Db } from '../platform/db/index.ts';
import { type RefundFilter, refundPage } from './list-refunds.ts';

const owner = { merchantId: newId(), storeId: newId() };
let database: Awaited<ReturnType<typeof createDatabase>>;
let db: Db;

beforeAll(async () => {
  database = await createDatabase();
  db = connect({ url: database.url, poolSize: 2 });
  await sql`
    insert into refund (merchant_id, refund_id, own_id, store_id, payment_id, currency, network, amount, address, status,
      tx_id, day, created_at, completed_at)
    select ${owner.merchantId}, gen_random_uuid(), 'r' || n, ${owner.storeId}, gen_random_uuid(),
      case when n % 5000 = 0 then 'USDC' else 'USDT' end, case when n % 5000 = 1 then 'spl' else 'erc20' end, 1,
      'address-' || n % 4000, case when n % 5000 = 2 then 'canceled' else 'succeeded' end, 'tx-' || n % 4000, 1, n, n
    from generate_series(1, 20000) as n`.execute(db);
  await sql`vacuum analyze refund`.execute(db);
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

test.each([
  ['all', {}, 'refund_list'],
  ['of a day', { created: { from: 5_000, before: 6_000 } }, 'refund_list'],
  ['by a rare status', { status: 'canceled' }, 'refund_status'],
  ['by a rare currency', { currency: 'USDC' }, 'refund_currency'],
  ['by a rare network', { network: 'spl' }, 'refund_network'],
  ['by transaction', { txId: 'tx-7' }, 'refund_tx'],
] as [string, RefundFilter, string][])('refunds %s are read from one index', async (_name, filter, index) => {
  const plan = await explain(db, refundPage(db, owner, filter, { limit: 10 }));
  expect(plan.map((node) => node['Node Type'])).toEqual(['Limit', 'Index Scan']);
  expect(plan[1]?.['Index Name']).toBe(index);
  expect(plan[1]?.Filter).toBeUndefined();
});

test('refunds to an address are found by its index, in each of its spellings', async () => {
  const filter = { addresses: ['address-7', 'ADDRESS-7'] };
  const plan = await explain(db, refundPage(db, owner, filter, { limit: 10 }));
  expect(plan.flatMap((node) => node['Index Name'] ?? [])).toEqual(['refund_address']);
  for (const node of plan) expect(node['Actual Rows']).toBeLessThanOrEqual(5);
});

test('refunds of a payment are found by its index', async () => {
  const { payment_id: paymentId } = await db
    .selectFrom('refund')
    .select('payment_id')
    .where('own_id', '=', 'r7')
    .executeTakeFirstOrThrow();
  const plan = await explain(db, refundPage(db, owner, { paymentId }, { limit: 10 }));
  expect(plan.flatMap((node) => node['Index Name'] ?? [])).toEqual(['refund_payment']);
  expect(plan.map((node) => node['Actual Rows'])).toEqual(plan.map(() => 1));
});
