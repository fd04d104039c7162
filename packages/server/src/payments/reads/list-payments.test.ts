import { SORTS, type Sort } from '@florin/contract/schemas';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../../../../test/database.ts';
import { explain } from '../../../../../test/explain.ts';
import { newId } from '../../platform/db/ids/index.ts';
import { connect, type Db } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { encodeId, type Owner } from '../../tenancy/index.ts';
import { type PaymentFilter, paymentPage, readPaymentFilter } from './list-payments.ts';

const ROWS = 20_000;
const LIMIT = 10;
const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7';
const TX = `0x${'a'.repeat(64)}`;

let database: Awaited<ReturnType<typeof createDatabase>>;
let db: Db;
const owner: Owner = { merchantId: newId(), storeId: newId() };

beforeAll(async () => {
  database = await createDatabase();
  db = connect({ url: database.url, poolSize: 2 });
  // Every tenth is of a session. What is rare: a status, a currency, a network, an order, each exception.
  await sql`
    insert into payment (merchant_id, payment_id, store_id, session_id, customer, order_id, amount, currency, status,
      chosen_currency, chosen_network, exceptions, completed_at, created_at)
    select ${owner.merchantId}, gen_random_uuid(), ${owner.storeId}, case when n % 10 = 0 then gen_random_uuid() end,
      case when n % 4 = 0 then 'big' else 'customer-' || n % 4000 end, case when n % 10 = 0 then 'order-' || n / 20 end,
      1, case when n % 4000 = 0 then 'JPY' else 'USD' end,
      case when n % 5000 = 0 then 'frozen' when n % 2 = 0 then 'expired' else 'completed' end,
      'USDT', case when n % 4000 = 1 then 'spl' when n % 3 = 0 then 'trc20' else 'erc20' end,
      case when n % 3000 = 7 then '["late"]' when n % 3000 = 8 then '["underpaid", "wrong_token"]'
           when n % 3000 = 9 then '["overpaid"]' when n % 3000 = 10 then '["canceled"]' else '[]' end::jsonb,
      case when n % 5000 <> 0 and n % 2 <> 0 then n end, n
    from generate_series(1, ${ROWS}::int) as n`.execute(db);
  await sql`
    insert into payment_option (merchant_id, payment_id, currency, network, address, watch, exchange_rate, pay_amount,
      quote_ends_at, chosen_at)
    select merchant_id, payment_id, 'USDT', 'erc20', case when created_at = 777 then ${ADDRESS} else 'a' || created_at end,
      'w' || created_at, '1', 1, 0, 0
    from payment`.execute(db);
  await sql`
    insert into payment_transaction (merchant_id, network, tx_id, index, payment_id, address, sender, amount, kind, status,
      height, seen_at)
    select merchant_id, 'erc20', case when created_at % 2000 = 9 then ${TX} else 't' || created_at end, created_at, payment_id,
      'a', 's', 1, 'counted', 'seen', 1, 1
    from payment`.execute(db);
  await sql`vacuum analyze payment, payment_option, payment_transaction`.execute(db);
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

const planOf = (filter: PaymentFilter, sort?: Sort) =>
  explain(db, paymentPage(db, owner, filter, { limit: LIMIT, sort }));

const SHAPES: [name: string, filter: PaymentFilter, index: string][] = [
  ['all', {}, 'payment_list'],
  ['by status', { status: 'completed' }, 'payment_status'],
  ['by a rare status', { status: 'frozen' }, 'payment_status'],
  ['by customer', { customer: 'customer-7' }, 'payment_customer'],
  ['by a customer with very many', { customer: 'big' }, 'payment_customer'],
  ['by order', { orderId: 'order-7' }, 'payment_order'],
  ['by a rare currency', { currency: 'JPY' }, 'payment_currency'],
  ['by network', { network: 'erc20' }, 'payment_network'],
  ['by a rare network', { network: 'spl' }, 'payment_network'],
  ['underpaid', { exception: 'underpaid' }, 'payment_underpaid'],
  ['overpaid', { exception: 'overpaid' }, 'payment_overpaid'],
  ['late', { exception: 'late' }, 'payment_late'],
  ['with a wrong token', { exception: 'wrong_token' }, 'payment_wrong_token'],
  ['canceled', { exception: 'canceled' }, 'payment_canceled'],
  ['of a day', { created: { from: 5_000, before: 6_000 } }, 'payment_list'],
  ['of a day by status', { status: 'completed', created: { from: 5_000 } }, 'payment_status'],
];

test.each(SHAPES)(
  'payments %s are read from one index, from either end of it',
  async (_name, filter, index) => {
    for (const sort of SORTS) {
      const plan = await planOf(filter, sort);
      // Nothing is sorted, filtered or read beyond what is shown.
      expect(plan.map((node) => node['Node Type'])).toEqual(['Limit', 'Index Scan']);
      const [, scan] = plan;
      expect(scan?.['Index Name']).toBe(index);
      expect(scan?.Filter).toBeUndefined();
      expect(scan?.['Actual Rows']).toBeLessThanOrEqual(LIMIT + 1);
    }
  },
);

test.each([
  ['all', {}, 'payment_session_list'],
  ['by status', { status: 'expired' }, 'payment_session_status'],
  ['of a day', { created: { before: 6_000 } }, 'payment_session_list'],
] as [string, PaymentFilter, string][])(
  'sessions %s are read from an index that has no charges',
  async (_name, filter, index) => {
    const plan = await planOf({ ofSessions: true, ...filter });
    expect(plan.map((node) => node['Node Type'])).toEqual(['Limit', 'Index Scan']);
    expect(plan[1]?.['Index Name']).toBe(index);
    expect(plan[1]?.Filter).toBeUndefined();
  },
);

test.each([
  ['an address', { address: ADDRESS }, ['payment_pkey', 'payment_option_address'], 1],
  ['a transaction', { tx: { id: TX } }, ['payment_pkey', 'payment_transaction_pkey'], 10],
] as [string, PaymentFilter, string[], number][])(
  'payments of %s are found first, then sorted',
  async (_name, filter, indexes, rows) => {
    const plan = await planOf(filter);
    const names = plan.flatMap((node) => node['Index Name'] ?? []);
    expect([...new Set(names)].toSorted()).toEqual(indexes.toSorted());
    for (const node of plan) expect(node['Actual Rows']).toBeLessThanOrEqual(rows);
  },
);

const owned = (query: Parameters<typeof readPaymentFilter>[0]) => readPaymentFilter(query, owner);
const paramOf = (query: Parameters<typeof readPaymentFilter>[0]) => {
  try {
    owned(query);
    return 'taken';
  } catch (error) {
    return error instanceof Fail ? [error.code, error.details.param] : error;
  }
};

test('filters that contradict each other are refused by name', () => {
  const refused = (param: string) => ['invalid_request', param];
  expect(paramOf({ 'created[gte]': 10, 'created[lt]': 10 })).toEqual(refused('created[lt]'));
  expect(paramOf({ 'created[gte]': 11, 'created[lt]': 10 })).toEqual(refused('created[lt]'));
  expect(paramOf({ 'created[gte]': 10, 'created[lt]': 11 })).toBe('taken');
  expect(paramOf({ network: 'spl', address: ADDRESS })).toEqual(refused('address'));
  expect(paramOf({ network: 'erc20', address: ADDRESS })).toBe('taken');
  expect(paramOf({ network: 'trc20', tx_id: TX })).toEqual(refused('tx_id'));
  expect(paramOf({ network: 'erc20', tx_id: `${TX}:3` })).toBe('taken');
  expect(paramOf({ status: 'failed', exception: 'late' })).toEqual(refused('exception'));
  expect(paramOf({ status: 'completed', exception: 'late' })).toBe('taken');
});

test('the store is that of the key, or it is forbidden', () => {
  expect(paramOf({ store: encodeId('store', owner.storeId) })).toBe('taken');
  for (const store of [encodeId('store', newId()), owner.storeId, 'store_x'])
    expect(paramOf({ store })).toEqual(['forbidden', undefined]);
});

test('an address and a transaction are found in any spelling that names them', () => {
  expect(owned({ address: ADDRESS.toLowerCase() }).address).toBe(ADDRESS);
  expect(owned({ address: 'no address' }).address).toBe('no address');
  expect(owned({ tx_id: `0x${'A'.repeat(64)}:12` }).tx).toEqual({ id: TX, index: 12 });
  expect(owned({ tx_id: 'no transaction' }).tx).toEqual({ id: 'no transaction' });
});
