import { createHash } from 'node:crypto';
import { CREATED_FROM, fillTables, ID, type ListOwner, uuidOf } from '../list/fill.ts';

/** Two payments of each order, as payers begin again. */
export const orderAt = (rows: number, at: number) => `order-${at % Math.floor(rows / 4)}`;

/** An exchange, which sent every payment. */
export const SENDER = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';

const md5 = (text: string) => createHash('md5').update(text).digest('hex');

/** What people know a payment of the store by, for the nth of those that were paid. */
export function namesOf(rows: number, nth: number) {
  // Every second is the store's, and of these every seventieth of a hundred was paid, the hundredth among them.
  const n = 100 * (1 + (nth % Math.floor(rows / 100)));
  const hex = `${n.toString(16).padStart(12, '0')}70008${md5(String(n)).slice(0, 15)}`;
  const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return { id, order: orderOf(n), email: emailOf(n), txId: `${md5(id)}${md5(`${id}b`)}` };
}

const orderOf = (n: number) => `order-${Math.floor(n / 4)}`;
const emailOf = (n: number) => `payer-${n}@example.com`;

/**
 * Fills a database with payments as years would, each with an option and most with a transfer: half of them in one store,
 * the others over 49 stores of 10 merchants; seven in ten completed, one in a hundred deviating.
 */
export async function fillPayments(url: string, owner: ListOwner, rows: number): Promise<void> {
  await fillTables(
    url,
    ['payment', 'payment_option', 'payment_transaction'],
    `insert into payment (merchant_id, payment_id, store_id, session_id, customer, order_id, amount, currency, status,
       fixed_currency, fixed_network, received_amount, held_amount, exceptions, metadata, expires_at, completed_at, created_at,
       payer_email)
     select case when n % 2 = 0 then '${owner.merchantId}'::uuid else ${uuidOf("'merchant' || n % 10")} end, ${ID},
       case when n % 2 = 0 then '${owner.storeId}'::uuid else ${uuidOf("'store' || n % 49")} end, ${ID},
       'customer-' || n % 100000, 'order-' || n / 4, 19990000, 'USDT', status, 'USDT', 'trc20',
       case when status = 'completed' then 19990000 else 0 end, 0,
       case when n % 200 = 0 then '["late"]' when n % 200 = 2 then '["overpaid"]' else '[]' end::jsonb,
       jsonb_build_object('cart', n::text), ${CREATED_FROM} + n + 1800,
       case when status = 'completed' then ${CREATED_FROM} + n + 60 end, ${CREATED_FROM} + n,
       case when n % 100 = 0 then 'payer-' || n || '@example.com' end
     from (
       select n, case when n % 1000 = 0 then 'processing' when (n * 7919) % 100 < 70 then 'completed' else 'expired' end as status
       from generate_series(1, ${rows}::bigint) as n
     ) as made`,
    `insert into payment_option (merchant_id, payment_id, currency, network, address, watch, exchange_rate, pay_amount,
       quoted_at, quote_ends_at, chosen_at)
     select merchant_id, payment_id, 'USDT', 'trc20', 'T' || payment_id, 'T' || payment_id, '1', 19990000, created_at,
       created_at + 900, created_at
     from payment`,
    `insert into payment_transaction (merchant_id, network, tx_id, index, payment_id, currency, address, sender, amount, kind,
       status, height, seen_at, final_at)
     select merchant_id, 'trc20', md5(payment_id::text) || md5(payment_id::text || 'b'), 0, payment_id, 'USDT',
       'T' || payment_id, '${SENDER}', 19990000, 'counted', 'final', created_at, created_at + 30, created_at + 60
     from payment where status = 'completed'`,
  );
}
