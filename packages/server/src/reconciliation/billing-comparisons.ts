import { sql } from 'kysely';
import { invoiceRows } from '../invoices/index.ts';
import { paymentRows } from '../payments/books/index.ts';
import { creditRows } from '../subscriptions/index.ts';
import { encodeId } from '../tenancy/index.ts';
import { amounts, type Comparison } from './comparison.ts';

/** An invoice is updated in a transaction after its payment's, so open invoices are not compared. */
const invoiceMoney: Comparison = {
  name: 'invoices and their payments',
  resource: (id) => `invoice ${encodeId('invoice', id)}`,
  amounts: ['paid, by its completed payment'],
  rows: (merchantId) => sql`
    select invoice_id, currency, ${amounts(sql`case when i.status = 'paid' then i.amount_due end`)},
      ${amounts(sql`p.paid`)}
    from ${invoiceRows(merchantId)} as i
    left join (
      select invoice_id, price_currency as currency, sum(price) as paid from ${paymentRows(merchantId)} as p
      where status = 'completed' and invoice_id is not null group by invoice_id, price_currency
    ) as p using (invoice_id, currency)
    where i.status <> 'open'`,
};

/**
 * A subscription's credit is the credited amounts of its paid invoices, less the credit applied to others. A constraint
 * keeps each invoice's credited amount within what was paid for it.
 */
const credit: Comparison = {
  name: 'credit of subscriptions and their invoices',
  resource: (id) => `subscription ${encodeId('subscription', id)}`,
  amounts: ['credit, by its invoices'],
  rows: (merchantId) => sql`
    select subscription_id, currency, ${amounts(sql`i.credit`)}, ${amounts(sql`s.credit_amount`)}
    from ${creditRows(merchantId)} as s
    left join (
      select subscription_id, currency, sum(credited_amount - credit_applied_amount) as credit
      from ${invoiceRows(merchantId)} as i group by subscription_id, currency
    ) as i using (subscription_id, currency)`,
};

export const BILLING_COMPARISONS: readonly Comparison[] = [invoiceMoney, credit];
