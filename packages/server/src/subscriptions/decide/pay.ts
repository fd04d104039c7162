import { isOverdue, paidInvoice } from '../../invoices/decide/index.ts';
import { creditFrom } from './credit.ts';
import type { BillingDraft } from './draft.ts';

/** Marks an invoice as paid, by any means, and updates its subscription. */
export function invoicePaid(draft: BillingDraft, invoiceId: string): void {
  const invoice = draft.invoice(invoiceId);
  draft.put({ ...paidInvoice(invoice, draft.now), reduction: 0n });
  // A change reduced the amount while this payment was pending.
  if (invoice.reduction > 0n) creditFrom(draft, invoiceId, invoice.reduction);
  draft.emit('invoice.paid', invoiceId);
  const isPeriod = invoice.reason !== 'subscription_update';
  if (isPeriod)
    draft.change({ periodStart: invoice.periodStart, periodEnd: invoice.periodEnd, skippedUntil: null });
  const { status } = draft.subscription;
  if (status === 'active') {
    if (isPeriod) draft.emit('subscription.updated');
    return;
  }
  if (draft.openInvoices.some(isOverdue)) return;
  draft.move('active');
  draft.emit('subscription.active');
}
