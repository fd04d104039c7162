import { type RawBuilder, sql } from 'kysely';

/**
 * What owners of one type have ordered, as a table of a statement: one row for each owner, whatever became of its
 * transfers. A lost one may be followed by others, of which each may fail, be paid, or be lost as well; at most one of them
 * is neither failed nor lost (the index `transfer_owner`).
 *
 * Columns: `network`, `currency` and `amount`, null where the owner's transfers differ; `paid` and `open`, the sums of those
 * that succeeded, lost ones included, and of those under way; `paid_by` and `lost_by`, the transactions that these
 * succeeded by, and that were lost, whether or not people have decided of them.
 */
export const transferRows = (merchantId: string, ownerType: string): RawBuilder<unknown> => sql`(
  select owner_id,
    case when min(network collate "C") = max(network collate "C") then min(network collate "C") end as network,
    case when min(currency collate "C") = max(currency collate "C") then min(currency collate "C") end as currency,
    case when min(amount) = max(amount) then min(amount) end as amount,
    coalesce(sum(amount) filter (where status = 'succeeded'), 0) as paid,
    coalesce(sum(amount) filter (where status in ('queued', 'sending')), 0) as open,
    array_agg(tx_id) filter (where status = 'succeeded') as paid_by,
    array_agg(tx_id) filter (where lost_at is not null) as lost_by
  from transfer
  where merchant_id = ${merchantId} and owner_type = ${ownerType}
  group by owner_id)`;

/** What left our wallets against the books, and is the operator's loss: see `strayPostings`. */
export const strayRows = (merchantId: string): RawBuilder<unknown> => sql`(
  select t.network, t.currency, t.amount
  from transfer_attempt a cross join unnest(a.stray_ids) as stray (transfer_id)
  join transfer t on t.merchant_id = a.merchant_id and t.transfer_id = stray.transfer_id
  where a.merchant_id = ${merchantId} and a.stray_ids <> '{}' and t.owner_type in ('payout_item', 'refund'))`;
