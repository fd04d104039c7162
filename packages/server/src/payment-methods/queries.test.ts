import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../../../test/database.ts';
import { explain } from '../../../../test/explain.ts';
import { NIL_ID, newId } from '../platform/db/ids/index.ts';
import { connect, type Db } from '../platform/db/index.ts';
import { type MethodFilter, methodPage } from './queries.ts';

const merchantId = newId();
let database: Awaited<ReturnType<typeof createDatabase>>;
let db: Db;

beforeAll(async () => {
  database = await createDatabase();
  db = connect({ url: database.url, poolSize: 2 });
  await sql`
    insert into payment_method (merchant_id, payment_method_id, store_id, customer_id, currency, network, wallet_address,
      recipient, mandate_id, salt, cap_amount, interval, starts_at, status, balance, allowance, read_at, next_read_at,
      created_at)
    select ${merchantId}, gen_random_uuid(), ${NIL_ID}, case when n % 4000 = 3 then ${NIL_ID}::uuid else gen_random_uuid() end,
      case when n % 5000 = 0 then 'USDC' else 'USDT' end, case when n % 5000 = 1 then 'spl' else 'erc20' end, 'w', 'r',
      'm' || n, 's', 1, 'month', 0, case when n % 5000 = 2 then 'unknown' else 'active' end, 0, 0, 0, 1, n
    from generate_series(1, 20000) as n`.execute(db);
  await sql`vacuum analyze payment_method`.execute(db);
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

test.each([
  ['all', {}, 'payment_method_list'],
  ['of a day', { created: { from: 5_000 } }, 'payment_method_list'],
  ['of a customer', { customerId: NIL_ID }, 'payment_method_customer'],
  ['by a rare status', { status: 'unknown' }, 'payment_method_status'],
  ['by a rare currency', { currency: 'USDC' }, 'payment_method_currency'],
  ['by a rare network', { network: 'spl' }, 'payment_method_network'],
] as [string, MethodFilter, string][])('methods %s are read from one index', async (_name, filter, index) => {
  const plan = await explain(db, methodPage(db, merchantId, filter, { limit: 10 }));
  expect(plan.map((node) => node['Node Type'])).toEqual(['Limit', 'Index Scan']);
  expect(plan[1]?.['Index Name']).toBe(index);
  expect(plan[1]?.Filter).toBeUndefined();
});
