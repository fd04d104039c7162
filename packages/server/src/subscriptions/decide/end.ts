import { voidInvoice } from '../../invoices/decide/index.ts';
import type { BillingDraft } from './draft.ts';

type PageEvent = 'payment.cancelled' | 'payment.expired';
const PAGE_EVENTS = { canceled: 'payment.cancelled', expired: 'payment.expired' } as const;

/** Voids the open invoices. None of them may have pending money. */
function voidOpen(draft: BillingDraft, as: keyof typeof PAGE_EVENTS): void {
  const event: PageEvent = PAGE_EVENTS[as];
  for (const invoice of draft.openInvoices) {
    draft.put(voidInvoice(invoice, as));
    if (invoice.page === 'open') draft.emit(event, invoice.id);
  }
}

/** Cancels by an API call, or as planned. */
export function cancel(draft: BillingDraft): void {
  voidOpen(draft, 'canceled');
  draft.move('canceled');
  draft.change({ canceledAt: draft.now });
  draft.emit('subscription.canceled');
}

/** Cancels after dunning without a payment. */
export function cancelUnpaid(draft: BillingDraft): void {
  voidOpen(draft, 'expired');
  draft.move('canceled');
  draft.change({ canceledAt: draft.now });
  draft.emit('subscription.canceled');
}

/** Ends a subscription without a first payment, or a trial without a mandate. */
export function expireIncomplete(draft: BillingDraft): void {
  voidOpen(draft, 'expired');
  draft.move('incomplete_expired');
  draft.emit('subscription.incomplete_expired');
}

/** A due cancel waits for pending money. Decisions that make money final call this last. */
export function cancelIfDue(draft: BillingDraft): void {
  const { cancelAt, status } = draft.subscription;
  const isOver = status === 'canceled' || status === 'incomplete_expired';
  if (isOver || cancelAt === null || cancelAt > draft.now || draft.isAnyPaymentPending) return;
  cancel(draft);
}
