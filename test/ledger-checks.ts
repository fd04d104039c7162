// The ledger's invariants as statements alone: each answers the rows that break it, and none shares code with the
// product.

/** What the journals move in each account, and what the accounts hold, from the rows alone. */
const ACCOUNTS_THAT_DIFFER = `
  with grows as (select unnest(array['custody', 'custody_hold', 'network_cost', 'reorg_loss', 'float']) as kind),
  sides as (
    select merchant_id, debit as account, currency, amount from ledger_entry
    union all select merchant_id, credit, currency, -amount from ledger_entry
  ), sums as (
    select merchant_id, account, currency,
           sum(amount) * case when split_part(account, ':', 1) in (select kind from grows) then 1 else -1 end as total
    from sides group by merchant_id, account, currency
  )
  select coalesce(s.account, a.account) as account, s.total, a.balance
  from sums s full join ledger_account a using (merchant_id, account, currency)
  where coalesce(s.total, 0) <> coalesce(a.balance, 0)`;

const ASSETS_OUT_OF_BALANCE = `
  select merchant_id, currency,
    sum(balance) filter (where account in ('available', 'held', 'payout_hold', 'refund_hold', 'seized', 'fees')) as owed,
    sum(balance) filter (where split_part(account, ':', 1) in ('custody', 'custody_hold')) as coins
  from ledger_account group by merchant_id, currency
  having coalesce(sum(balance) filter (where account in
      ('available', 'held', 'payout_hold', 'refund_hold', 'seized', 'fees')), 0)
    <> coalesce(sum(balance) filter (where split_part(account, ':', 1) in ('custody', 'custody_hold')), 0)`;

const BELOW_FLOOR = `select account, balance from ledger_account where balance < floor
  or (balance < 0 and split_part(account, ':', 1) <> 'float')`;

/** From a successful submit on: debit = frozen + paid out + charged + released, and what is not reserved is not frozen. */
const BATCHES_OUT_OF_BALANCE = `
  with items as (
    select merchant_id, batch_id,
      coalesce(sum(amount) filter (where status = 'succeeded'), 0) as paid,
      coalesce(sum(service_fee_amount) filter (where status = 'succeeded'), 0) as charged,
      coalesce(sum(amount + service_fee_amount) filter (where status in ('failed', 'canceled')), 0) as released,
      coalesce(sum(amount + service_fee_amount) filter (where status in ('queued', 'processing')), 0) as frozen
    from payout_item group by merchant_id, batch_id
  )
  select b.batch_id, b.status, b.debit_amount, b.frozen_amount, i.*
  from payout_batch b join items i using (merchant_id, batch_id)
  where (b.submitted_at is null and (b.frozen_amount <> 0 or b.charged_service_fee_amount <> 0))
    or (b.submitted_at is not null and (b.frozen_amount <> i.frozen or b.charged_service_fee_amount <> i.charged
      or b.debit_amount <> b.frozen_amount + i.paid + i.charged + i.released))`;

/** What refunds have set aside is what lies there, per currency. */
const REFUND_HOLD_DIFFERS = `
  with open as (
    select merchant_id, currency, sum(amount) as total from refund where status in ('pending', 'processing') group by 1, 2
  ), hold as (select merchant_id, currency, balance from ledger_account where account = 'refund_hold')
  select merchant_id, currency, o.total, h.balance from open o full join hold h using (merchant_id, currency)
  where coalesce(o.total, 0) <> coalesce(h.balance, 0)`;

/** What a payment, or one transfer of it, notes of its refunds is what they are; together never more than came. */
const REFUNDS_DIFFER = `
  with refunds as (
    select merchant_id, payment_id, source_tx_id, source_index, network,
      sum(amount) filter (where status = 'succeeded') as paid,
      sum(amount) filter (where status in ('pending', 'processing')) as open
    from refund group by 1, 2, 3, 4, 5
  )
  select p.payment_id::text as of, p.refunded_amount, p.refunding_amount, r.paid, r.open
  from payment p left join refunds r using (merchant_id, payment_id)
  where r.source_tx_id is null and (p.refunded_amount <> coalesce(r.paid, 0)
    or p.refunding_amount <> coalesce(r.open, 0) or p.refunded_amount + p.refunding_amount > p.received_amount)
  union all
  select t.tx_id, t.refunded_amount, t.refunding_amount, r.paid, r.open
  from payment_transaction t left join refunds r
    on r.merchant_id = t.merchant_id and r.network = t.network and r.source_tx_id = t.tx_id and r.source_index = t.index
  where t.refunded_amount <> coalesce(r.paid, 0) or t.refunding_amount <> coalesce(r.open, 0)
    or t.refunded_amount + t.refunding_amount > t.amount`;

/** A day's counter is the sum of the store's refunds that count. */
const REFUND_QUOTA_DIFFERS = `
  with counted as (
    select merchant_id, store_id, day, sum(amount) as total from refund
    where status not in ('failed', 'canceled') group by 1, 2, 3
  )
  select merchant_id, store_id, day, c.total, q.amount
  from counted c full join refund_quota q using (merchant_id, store_id, day)
  where coalesce(c.total, 0) <> coalesce(q.amount, 0)`;

/** What a payment says was pulled for it is one charge that succeeded, and the chain has it once unless it was lost. */
const CHARGES_DIFFER = `
  select t.payment_id, t.tx_id, t.amount, s.status, s.amount as ordered, c.pulled
  from payment_transaction t
  left join transfer s on s.merchant_id = t.merchant_id and s.owner_type = 'charge' and s.owner_id = t.payment_id
  left join lateral (
    select count(*) as times, coalesce(sum(amount), 0) as pulled from simchain.transfer c
    where c.merchant_id = t.merchant_id and c.network = t.network and c.tx_id = t.tx_id and c.sender = s.address
      and c.item_id = s.transfer_id::text
  ) as c on true
  where t.pulled and (s.status is distinct from 'succeeded' or s.amount <> t.amount or s.tx_id <> t.tx_id
    or t.lost_at is null and (c.times <> 1 or c.pulled <> t.amount))`;

/** Payouts and refunds that went to an address of the merchant's own: coins that the books call paid and that stayed. */
const PAID_OURSELVES = `
  select t.owner_type, t.owner_id, t.address from transfer t
  where t.key_ref = 'hot' and t.charge is null and t.status = 'succeeded' and (
    exists (select from payment_option o
      where o.merchant_id = t.merchant_id and o.network = t.network and o.address = t.address and o.watch is not null)
    or exists (select from transfer_attempt a
      where a.merchant_id = t.merchant_id and a.network = t.network and a.sender = t.address))`;

export const LEDGER_CHECKS: Readonly<Record<string, string>> = {
  ACCOUNTS_THAT_DIFFER,
  ASSETS_OUT_OF_BALANCE,
  BELOW_FLOOR,
  BATCHES_OUT_OF_BALANCE,
  REFUND_HOLD_DIFFERS,
  REFUNDS_DIFFER,
  REFUND_QUOTA_DIFFERS,
  CHARGES_DIFFER,
  PAID_OURSELVES,
};
