import type { BillingInterval, Invoice } from '@florin/contract/schemas';
import { encodeId } from '../tenancy/index.ts';
import type { InvoiceRow } from './queries.ts';

const FREQUENCIES: Record<BillingInterval, string> = {
  day: 'Daily',
  week: 'Weekly',
  month: 'Monthly',
  year: 'Yearly',
};

/** The billing interval as text and as fields. */
export function presentInterval(interval: BillingInterval) {
  return {
    frequency: FREQUENCIES[interval],
    recurring_interval: interval,
    recurring_interval_count: 1,
  };
}

/** `payment_id` is the session of the invoice's page; without a page, the newest charge. */
function paymentOf({ session_id, charge_payment_id }: InvoiceRow): { payment_id?: string } {
  if (session_id !== null) return { payment_id: encodeId('checkoutSession', session_id) };
  return charge_payment_id === null ? {} : { payment_id: encodeId('payment', charge_payment_id) };
}

export function presentInvoice(row: InvoiceRow): Invoice {
  const due = Number(row.amount_due);
  const paid = row.status === 'paid' ? due : 0;
  return {
    id: encodeId('invoice', row.invoice_id),
    object: 'invoice',
    subscription_id: encodeId('subscription', row.subscription_id),
    customer: encodeId('customer', row.customer_id),
    amount_due: due,
    amount_paid: paid,
    amount_remaining: due - paid,
    currency: row.currency,
    status: row.status,
    payment_status: row.payment_status,
    billing_reason: row.billing_reason,
    ...presentInterval(row.interval),
    period_start: Number(row.period_start),
    period_end: Number(row.period_end),
    ...paymentOf(row),
    ...(row.paid_at === null ? {} : { paid_at: Number(row.paid_at) }),
    due_date: Number(row.due_date),
    created: Number(row.created_at),
  };
}
