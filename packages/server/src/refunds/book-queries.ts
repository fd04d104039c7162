import { type RawBuilder, sql } from 'kysely';

/** What refunds say of money, as a table of a statement, for whoever compares the books. */
export const refundRows = (merchantId: string): RawBuilder<unknown> => sql`(
  select refund_id, own_id, payment_id, source_tx_id, source_index, network, currency, amount, status, tx_id, lost_at
  from refund
  where merchant_id = ${merchantId})`;
