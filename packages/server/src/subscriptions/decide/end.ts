import { voidInvoice } from '../../invoices/index.ts';
import type { Draft } from './draft.ts';

type PageEvent = 'payment.cancelled' | 'payment.expired';
const PAGE_EVENTS = { canceled: 'payment.cancelled', expired: 'payment.expired' } as const;

/** Voids what is open. No money for any of it may be on its way. */
function voidOpen(draft: Draft, as: keyof typeof PAGE_EVENTS): void {
  const event: PageEvent = PAGE_EVENTS[as];
  for (const invoice of draft.openInvoices) {
    draft.put(voidInvoice(invoice, as));
    if (invoice.page === 'open') draft.tell(event, invoice.id);
  }
}

/** By call, or as planned. */
export function cancel(draft: Draft): void {
  voidOpen(draft, 'canceled');
  draft.move('canceled');
  draft.change({ canceledAt: draft.now });
  draft.tell('subscription.canceled');
}

/** Dunning is over and nobody has paid. */
export function cancelUnpaid(draft: Draft): void {
  voidOpen(draft, 'expired');
  draft.move('canceled');
  draft.change({ canceledAt: draft.now });
  draft.tell('subscription.canceled');
}

/** Nobody made the first payment, or gave the mandate that a trial needs. */
export function expireIncomplete(draft: Draft): void {
  voidOpen(draft, 'expired');
  draft.move('incomplete_expired');
  draft.tell('subscription.incomplete_expired');
}

/** A cancel whose time has come waits for money that is on its way; whatever decided that calls this last. */
export function cancelIfDue(draft: Draft): void {
  const { cancelAt, status } = draft.subscription;
  const isOver = status === 'canceled' || status === 'incomplete_expired';
  if (isOver || cancelAt === null || cancelAt > draft.now || draft.isAnyLive) return;
  cancel(draft);
}
