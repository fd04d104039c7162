import { type RawBuilder, sql } from 'kysely';

/**
 * A subquery with one row for each owner of a type, over all of its transfers. A lost transfer may be followed by others,
 * each of which may fail, succeed or be lost as well; at most one is neither failed nor lost (the index `transfer_owner`).
 *
 * Columns: `network`, `currency` and `amount`, null where the owner's transfers differ; `paid` and `open`, the sums of
 * succeeded transfers (lost ones included) and of those under way; `paid_by` and `lost_by`, the ids of the transactions
 * that paid, and that were lost, decided or not.
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

/** Stray payments, which are the operator's loss: see `strayPostings`. */
export const strayRows = (merchantId: string): RawBuilder<unknown> => sql`(
  select t.network, t.currency, t.amount
  from transfer_attempt a cross join unnest(a.stray_ids) as stray (transfer_id)
  join transfer t on t.merchant_id = a.merchant_id and t.transfer_id = stray.transfer_id
  where a.merchant_id = ${merchantId} and a.stray_ids <> '{}' and t.owner_type in ('payout_item', 'refund'))`;
