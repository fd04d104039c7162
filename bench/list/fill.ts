import { execute } from '../database.ts';

/** Whose list is asked for: half of all rows are this store's. */
export interface ListOwner {
  merchantId: string;
  storeId: string;
}

/** Rows of one customer. */
const ROWS_OF_CUSTOMER = 5;
const OTHER_STORES = 49;
const OTHER_MERCHANTS = 10;
export const CREATED_FROM = 1_700_000_000;

/** Customers of the store: every second one. */
export const customerAt = (rows: number, at: number) =>
  `customer-${2 * (at % Math.floor(rows / ROWS_OF_CUSTOMER / 2))}`;

/** A UUID of version 7 whose time is the row's number, so that ids and times have one order. */
export const ID = `(lpad(to_hex(n), 12, '0') || '7000' || '8' || substr(md5(n::text), 1, 15))::uuid`;
export const uuidOf = (text: string) => `md5(${text})::uuid`;

/**
 * Fills a database with subscriptions as years would: half of them in one store, the others over 49 stores of 10
 * merchants, five to a customer, seven in ten active.
 */
export async function fill(url: string, owner: ListOwner, rows: number): Promise<void> {
  await fillTables(
    url,
    ['subscription'],
    `insert into subscription (merchant_id, subscription_id, store_id, customer_id, customer, currency, description,
       status, items, amount, interval, billing_cycle_anchor, current_period_start, current_period_end, page_token,
       created_at, canceled_at)
     select case when c % 2 = 0 then '${owner.merchantId}'::uuid else ${uuidOf(`'merchant' || c % ${OTHER_MERCHANTS}`)} end,
       ${ID}, case when c % 2 = 0 then '${owner.storeId}'::uuid else ${uuidOf(`'store' || c % ${OTHER_STORES}`)} end,
       ${uuidOf(`'customer' || c`)}, 'customer-' || c, 'USD', 'Membership No. ' || n, status,
       jsonb_build_array(jsonb_build_object('id', ${uuidOf(`'item' || n`)}, 'product', 'Gold', 'unit_amount', '1999',
         'quantity', 1, 'metadata', jsonb_build_object('seat', n::text))),
       1999, 'month', ${CREATED_FROM} + n, ${CREATED_FROM} + n, ${CREATED_FROM} + n + 2592000, 'unused',
       ${CREATED_FROM} + n, case when status = 'canceled' then ${CREATED_FROM} + n end
     from (
       select n, n % customers as c,
         case when mixed < 70 then 'active' when mixed < 90 then 'canceled'
              when mixed < 97 then 'past_due' else 'trialing' end as status
       from (
         -- Each customer's rows fall over the statuses, at least one of them active.
         select n, customers, (n * 7919 + n / customers * 37) % 100 as mixed
         from generate_series(1, ${rows}::bigint) as n, (values (${rows} / ${ROWS_OF_CUSTOMER})) as v (customers)
       ) as numbered
     ) as made`,
  );
}

/** Runs inserts into tables without their indexes, which are made afterwards: that takes a fraction of the time. */
export async function fillTables(
  url: string,
  tables: readonly string[],
  ...inserts: string[]
): Promise<void> {
  const names = tables.map((table) => `'${table}'`).join(', ');
  const [found] = await execute(
    url,
    `select indexname, indexdef from pg_indexes
     where tablename in (${names}) and schemaname = 'public' and indexname not like '%\\_pkey'`,
  );
  const indexes = (found?.rows ?? []) as { indexname: string; indexdef: string }[];
  await execute(
    url,
    ...indexes.map(({ indexname }) => `drop index ${indexname}`),
    ...inserts,
    ...indexes.map(({ indexdef }) => indexdef),
    `vacuum (analyze) ${tables.join(', ')}`,
    'checkpoint',
  );
}
