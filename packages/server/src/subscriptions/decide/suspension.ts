import { type InvoiceFacts, isPageInvoice } from '../../invoices/index.ts';

/** How a merchant's suspensions stand at the time of a decision. */
export interface Suspension {
  /** Nothing new begins now. */
  isSuspended: boolean;
  /** How long it was suspended in all up to now, what lasts yet included. */
  seconds: number;
}

/**
 * An open invoice with its times as they are now. Each invoice says up to how much suspension its times are moved, so
 * that every reading moves them by the rest, and what is written during a suspension by what remains of it.
 *
 * The first payment of a subscription has its 23 hours whatever happens: its invoice stays as it is.
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
    // The days that a charge under way will have spent are those up to its order.
    attemptAt: later(invoice.attemptAt),
    suspendedSeconds: seconds,
  };
}
