/** Submitted work that is not over, and the jobs of it. */
export const UNFINISHED = `
  select 'batch ' || batch_id || ' is ' || status as what from payout_batch where status in ('pending', 'processing')
  union all
  select 'refund ' || own_id || ' is ' || status from refund
  where status = 'processing' or (status = 'pending' and address is not null)
  union all
  select 'job ' || kind || coalesce(': ' || last_error, '') from job
  where kind in ('payouts.process', 'transfers.send', 'payout_item.decided', 'sandbox.fund', 'events.publish',
                 'refunds.send', 'refund.decided', 'checkout.quote')
  union all
  select 'deposit ' || tx_id || ' is not final' from payment_transaction where status = 'seen'
  union all
  select 'deposit ' || t.tx_id || ' is not credited' from simchain.transfer t
  join deposit_address a on a.merchant_id = t.merchant_id and a.network = t.network and a.watch = t.recipient
  left join payment_transaction p on p.merchant_id = t.merchant_id and p.network = t.network and p.tx_id = t.tx_id
    and p.index = t.index
  where t.amount > 0 and t.currency is not null and p.status is distinct from 'final'
  union all
  select 'transfer ' || t.transfer_id || ' has left its block' from transfer_attempt a
  join transfer t on t.merchant_id = a.merchant_id and t.transfer_id = any(a.item_ids) and t.tx_id = a.tx_id
  where a.gone_at is not null and t.status = 'succeeded' and t.lost_at is null
  union all
  select 'event ' || event_id || ' is in no stream' from event where number is null
  union all
  select 'delivery of ' || event_id || ' is pending' from delivery where status = 'pending'`;
