import type { Statement } from './checker.ts';

// Prices of a run are in USD, or in a token; tokens cost about a dollar, or are not sold for.

/** A price at its rate, up to the next cent of a token; in the token itself as it is. */
const OTHERWISE_PRICED = `
  select o.payment_id, o.currency, p.amount, p.currency as in, o.exchange_rate, o.pay_amount
  from payment_option o join payment p using (merchant_id, payment_id)
  where o.pay_amount <> case when p.currency = o.currency then p.amount
    else ceil(p.amount * case when p.currency = 'USD' then 10000 else 1 end / o.exchange_rate::numeric / 10000) * 10000 end`;

/** Beyond 3 % from a dollar a token is sold for nothing, by whatever the broken source says. */
const SOLD_AT_A_BROKEN_RATE = `
  select payment_id, currency, network, exchange_rate from payment_option
  where exchange_rate::numeric not between 0.97 and 1.0301`;

/**
 * The quote that money counts at had not ended 120 s before more than dust was there: what comes later counts at a new
 * one. A price in the token itself is the same in every quote.
 */
const COUNTED_AT_AN_ENDED_QUOTE = `
  with arrived as (
    select t.*, sum(t.amount) over (partition by t.merchant_id, t.payment_id, t.currency, t.address
      order by t.seen_at, t.tx_id, t.index) as so_far
    from payment_transaction t where t.kind = 'counted' and t.status <> 'gone'
  ), held as (
    select o.merchant_id, o.payment_id, o.quote_ends_at, min(a.seen_at) as since from payment_option o
    join payment p on p.merchant_id = o.merchant_id and p.payment_id = o.payment_id
      and p.fixed_currency = o.currency and p.fixed_network = o.network
    join arrived a on a.merchant_id = o.merchant_id and a.payment_id = o.payment_id and a.currency = o.currency
      and a.address = o.address
    where o.watch is not null and p.currency <> o.currency and p.closed_at is null and p.status <> 'failed'
      and (a.so_far * 100 >= o.pay_amount or a.so_far >= 1000000)
    group by 1, 2, 3
  )
  select payment_id, quote_ends_at, since from held where since > quote_ends_at + 120`;

export const QUOTE_CHECKS: readonly Statement[] = [
  ['I7', 'an option asks for something else than its price', OTHERWISE_PRICED],
  ['I7', 'a token is sold at a rate that was refused', SOLD_AT_A_BROKEN_RATE],
  ['I7', 'money counts at a quote that had ended', COUNTED_AT_AN_ENDED_QUOTE],
];
