import { type RawBuilder, sql } from 'kysely';

/** Amounts of invoices as a subquery, for `reconciliation`. */
export const invoiceRows = (merchantId: string): RawBuilder<unknown> => sql`(
  select invoice_id, subscription_id, currency, amount_due, status, credited_amount,
    credit_applied_amount from invoice
  where merchant_id = ${merchantId})`;
