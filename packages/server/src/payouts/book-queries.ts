import { type RawBuilder, sql } from 'kysely';

// Subqueries with the money columns of batches and items, for reconciliation.

export const payoutItemRows = (merchantId: string): RawBuilder<unknown> => sql`(
  select i.item_id, i.batch_id, b.network, b.currency, i.amount, i.service_fee_amount as fee, i.status, i.tx_id,
    i.lost_at
  from payout_item i
  join payout_batch b on b.merchant_id = i.merchant_id and b.batch_id = i.batch_id
  where i.merchant_id = ${merchantId})`;

export const payoutBatchRows = (merchantId: string): RawBuilder<unknown> => sql`(
  select batch_id, currency, status, requested_amount, debit_amount, frozen_amount, charged_service_fee_amount,
    submitted_at is not null and status not in ('canceled', 'rejected') as is_reserved
  from payout_batch
  where merchant_id = ${merchantId})`;
