import { SORTS } from '@florin/contract/schemas';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../../../test/database.ts';
import { explain } from '../../../../test/explain.ts';
import { NIL_ID, newId } from '../platform/db/ids/index.ts';
import { connect, type Db } from '../platform/db/index.ts';
import type { Owner } from '../tenancy/index.ts';
import { type SubscriptionFilter, subscriptionPage } from './queries.ts';

const ROWS = 20_000;
const LIMIT = 10;

let database: Awaited<ReturnType<typeof createDatabase>>;
let db: Db;
const owner: Owner = { merchantId: newId(), storeId: newId() };

beforeAll(async () => {
  database = await createDatabase();
  db = connect({ url: database.url, poolSize: 2 });
  // One customer has a quarter of all, and hardly any is past_due: what a plan that filters would have to pass over.
  await sql`
    insert into subscription (merchant_id, subscription_id, store_id, customer_id, customer, currency, status, items,
      amount, interval, billing_cycle_anchor, current_period_start, current_period_end, page_token, created_at, canceled_at)
    select ${owner.merchantId}, gen_random_uuid(), ${owner.storeId}, gen_random_uuid(),
      case when n % 4 = 0 then 'big' else 'customer-' || n % 4000 end, 'USD',
      case when n % 5000 = 0 then 'past_due' when n % 2 = 0 then 'canceled' else 'active' end, '[]', 1, 'month', 0, 0, 1, '',
      n, case when n % 5000 <> 0 and n % 2 = 0 then n end
    from generate_series(1, ${ROWS}::int) as n`.execute(db);
  await sql`vacuum analyze subscription`.execute(db);
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

const planOf = (filter: Parameters<typeof subscriptionPage>[2]) =>
  explain(db, subscriptionPage(db, owner, filter));

const SHAPES: [name: string, filter: SubscriptionFilter, index: string][] = [
  ['all', {}, 'subscription_list'],
  ['by status', { status: 'active' }, 'subscription_status'],
  ['by a rare status', { status: 'past_due' }, 'subscription_status'],
  ['by customer', { customer: 'customer-7' }, 'subscription_customer'],
  ['by a customer with very many', { customer: 'big' }, 'subscription_customer'],
  ['by customer and status', { customer: 'big', status: 'canceled' }, 'subscription_customer_status'],
  ['by both, which few are', { customer: 'big', status: 'past_due' }, 'subscription_customer_status'],
];

test.each(SHAPES)(
  'the list %s reads its rows from one index, from either end',
  async (_name, filter, index) => {
    for (const sort of SORTS) {
      const plan = await planOf({ ...filter, limit: LIMIT, sort });
      // Nothing is sorted, filtered or read beyond what is shown.
      expect(plan.map((node) => node['Node Type'])).toEqual(['Limit', 'Index Scan']);
      const [, scan] = plan;
      expect(scan?.['Index Name']).toBe(index);
      expect(scan?.Filter).toBeUndefined();
      expect(scan?.['Actual Rows']).toBeLessThanOrEqual(LIMIT);
    }
  },
);

test('an export continues after a row by the same index', async () => {
  const after = { created_at: 10_000n, subscription_id: NIL_ID };
  const plan = await planOf({ status: 'active', limit: LIMIT, after });
  expect(plan.map((node) => node['Index Name'])).toEqual([undefined, 'subscription_status']);
  expect(plan[1]?.Filter).toBeUndefined();
});
