import { type RawBuilder, sql } from 'kysely';

/** What invoices say of money, as a table of a statement, for whoever compares the books. */
export const invoiceRows = (merchantId: string): RawBuilder<unknown> => sql`(
  select invoice_id, subscription_id, currency, amount_due, status, credited_amount,
    credit_applied_amount from invoice
  where merchant_id = ${merchantId})`;
