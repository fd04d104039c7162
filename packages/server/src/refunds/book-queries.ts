import { type RawBuilder, sql } from 'kysely';

/** Amounts of refunds as a subquery, for `reconciliation`. */
export const refundRows = (merchantId: string): RawBuilder<unknown> => sql`(
  select refund_id, own_id, payment_id, source_tx_id, source_index, network, currency, amount, status, tx_id, lost_at
  from refund
  where merchant_id = ${merchantId})`;
