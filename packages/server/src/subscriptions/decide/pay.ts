import { isOverdue, paidInvoice } from '../../invoices/index.ts';
import { creditFrom } from './credit.ts';
import type { Draft } from './draft.ts';

/** An invoice is paid, however: what follows for its subscription. */
export function invoicePaid(draft: Draft, invoiceId: string): void {
  const invoice = draft.invoice(invoiceId);
  draft.put({ ...paidInvoice(invoice, draft.now), reduction: 0n });
  // A change gave some of it back while this payment was on its way.
  if (invoice.reduction > 0n) creditFrom(draft, invoiceId, invoice.reduction);
  draft.tell('invoice.paid', invoiceId);
  const isPeriod = invoice.reason !== 'subscription_update';
  if (isPeriod)
    draft.change({ periodStart: invoice.periodStart, periodEnd: invoice.periodEnd, skippedUntil: null });
  const { status } = draft.subscription;
  if (status === 'active') {
    if (isPeriod) draft.tell('subscription.updated');
    return;
  }
  if (draft.openInvoices.some(isOverdue)) return;
  draft.move('active');
  draft.tell('subscription.active');
}
