import { type InvoiceFacts, isPageInvoice } from '../../invoices/decide/index.ts';

/** A merchant's suspensions at the time of a decision. */
export interface Suspension {
  /** The merchant is suspended now: nothing new begins. */
  isSuspended: boolean;
  /** Total suspension time up to now, including a current one. */
  seconds: number;
}

/**
 * Shifts the times of an open invoice by the merchant's suspension time. Each invoice stores the total suspension time
 * by which it is already shifted, so a reader shifts only by the difference. An invoice written during a suspension is
 * later shifted by the rest of that.
 *
 * The 23 hours of a subscription's first payment are never extended, so the times of its invoice stay.
 */
export function movedBySuspension(
  invoice: InvoiceFacts,
  { seconds }: Pick<Suspension, 'seconds'>,
): InvoiceFacts {
  const rest = seconds - invoice.suspendedSeconds;
  if (rest === 0 || invoice.reason === 'subscription_create') return invoice;
  const later = (at: number | null) => (at === null ? null : at + rest);
  const isYetDue = isPageInvoice(invoice) && invoice.overdueFrom === null;
  return {
    ...invoice,
    dueDate: isYetDue ? invoice.dueDate + rest : invoice.dueDate,
    overdueFrom: later(invoice.overdueFrom),
    nextTryAt: later(invoice.nextTryAt),
    // A pending charge uses up the dunning days up to its order.
    triedAt: later(invoice.triedAt),
    suspendedSeconds: seconds,
  };
}
