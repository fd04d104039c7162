import { type RawBuilder, sql } from 'kysely';

// Amounts of payments and their transactions as subqueries, for `reconciliation`.

/** A charge has no session, and its expected amount is exactly its `pay_amount`. */
export const paymentRows = (merchantId: string): RawBuilder<unknown> => sql`(
  select p.payment_id, p.invoice_id, p.status, p.amount as price, p.currency as price_currency,
    p.session_id is null as is_charge, p.fixed_currency as currency, p.fixed_network as network, o.pay_amount,
    p.received_amount, p.refunded_amount, p.refunding_amount, p.held_amount
  from payment p
  left join payment_option o on o.merchant_id = p.merchant_id and o.payment_id = p.payment_id
    and o.currency = p.fixed_currency and o.network = p.fixed_network
  where p.merchant_id = ${merchantId})`;

/** Credited transfers: final, and of a listed token. */
export const creditedRows = (merchantId: string): RawBuilder<unknown> => sql`(
  select payment_id, network, tx_id, index, currency, amount, kind, held_amount, refunded_amount, refunding_amount,
    pulled, lost_at is not null as is_lost, decision is not distinct from 'accepted' as is_accepted,
    kind = 'seized' and decision is null as is_seized
  from payment_transaction
  where merchant_id = ${merchantId} and status = 'final' and currency is not null)`;
