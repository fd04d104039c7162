import { type RawBuilder, sql } from 'kysely';

/**
 * The transfers that owners of one type have ordered, as a table of a statement. One that is paid anew after it was
 * lost counts as paid by the transaction that it had until the new one is final.
 */
export const transferRows = (merchantId: string, ownerType: string): RawBuilder<unknown> => sql`(
  select t.owner_id, t.network, t.currency, t.amount,
    case when l.tx_id is null then t.status else 'succeeded' end as status, coalesce(l.tx_id, t.tx_id) as tx_id
  from transfer t
  left join transfer l on l.merchant_id = t.merchant_id and l.owner_id = t.owner_id and l.owner_type = t.owner_type
    and l.lost_at is not null and l.status = 'failed' and t.status <> 'succeeded'
  where t.merchant_id = ${merchantId} and t.owner_type = ${ownerType}
    and not (t.status = 'failed' and t.lost_at is not null))`;

/** What left our wallets against the books, and is the operator's loss: see `strayPostings`. */
export const strayRows = (merchantId: string): RawBuilder<unknown> => sql`(
  select t.network, t.currency, t.amount
  from transfer_attempt a cross join unnest(a.stray_ids) as stray (transfer_id)
  join transfer t on t.merchant_id = a.merchant_id and t.transfer_id = stray.transfer_id
  where a.merchant_id = ${merchantId} and a.stray_ids <> '{}' and t.owner_type in ('payout_item', 'refund'))`;
