import type { BillingReason, InvoicePaymentStatus, InvoiceStatus } from '@florin/contract/schemas';
import { Moves } from '../platform/db/index.ts';

// An invoice: open → paid | void. `payment_status`: pending ⇄ processing → completed | failed (open, tried again) |
// canceled | expired.
// Invariant: at most one attempt of a mandate is live (`liveAttempt`), none of an invoice that is not open, and no
// invoice becomes void while an attempt or a deposit for it is not final. A void or paid invoice never changes again, but
// for how much of a paid one was given back as a credit, which callers do not see.
// It changes only in transactions that hold the lock of its subscription; a crash between two of them leaves what the
// last one wrote, and the job of the subscription goes on from there.

/** Every allowed move, and no other. */
export const INVOICE_MOVES = new Moves<InvoiceStatus>('an invoice', {
  open: ['paid', 'void'],
  paid: [],
  void: [],
});

/**
 * Its payment page. `money`: some is seen and not final · `frozen`: a person has to decide · `paid`: it has paid the
 * invoice, which does not know yet · `expired`, `canceled`: over.
 */
export type PageState = 'none' | 'open' | 'money' | 'frozen' | 'paid' | 'expired' | 'canceled';

/** What a charge takes of its mandate's cap, in units of the token; kept while the charge is live or has paid. */
export interface CapUse {
  methodId: string;
  windowStart: number;
  amount: bigint;
}

/** What decisions about an invoice look at, and what they write. Times are Unix seconds of the merchant's clock. */
export interface InvoiceFacts {
  id: string;
  reason: BillingReason;
  /** What is due for it, less what earlier credits pay. */
  amount: bigint;
  /** What earlier credits pay of it. */
  creditApplied: bigint;
  /** What its own payment has been given back as a credit; of a paid one only, and never more than `amount`. */
  credited: bigint;
  /** Given back while a payment of it was on its way: taken off once that fails, a credit once it succeeds. */
  reduction: bigint;
  status: InvoiceStatus;
  paymentStatus: InvoicePaymentStatus;
  periodStart: number;
  periodEnd: number;
  /** The record of a period that passed while an earlier one was unpaid. */
  isSkipped: boolean;
  page: PageState;
  /** The payment of the charge that is on its way. */
  liveAttempt: string | null;
  /** When that charge was ordered. */
  attemptAt: number | null;
  /** Of the newest charge, while it counts. */
  capUse: CapUse | null;
  /** Failed charges that count as tries. */
  tries: number;
  nextTryAt: number | null;
  /** The mandate is revoked or its wallet listed: only another one is charged. */
  chargesEnded: boolean;
  /** From when its dunning days count; null: not overdue. */
  overdueFrom: number | null;
  daysSpent: number;
  dueDate: number;
  /** Up to how much of its merchant's suspensions, all added up, these times are moved: no second of them counts. */
  suspendedSeconds: number;
  paidAt: number | null;
  createdAt: number;
}

/** Whether payers pay it on a page: what a mandate pays is due when it is made. */
export const isPageInvoice = ({ dueDate, createdAt }: InvoiceFacts) => dueDate > createdAt;

/** Whether money for it is on its way, or has come without its knowing: nothing may be given up meanwhile. */
export const isLive = ({ status, liveAttempt, page }: InvoiceFacts) =>
  status === 'open' && (liveAttempt !== null || page === 'money' || page === 'paid');

/** Whether a payment of its present amount may come about: until that is decided the amount stays. */
export const isBusy = (invoice: InvoiceFacts) => isLive(invoice) || invoice.page === 'frozen';

export const isOverdue = ({ status, overdueFrom }: InvoiceFacts) => status === 'open' && overdueFrom !== null;

/** What callers see of the payment of an open invoice. */
export function openPaymentStatus(invoice: InvoiceFacts): InvoicePaymentStatus {
  if (isLive(invoice)) return 'processing';
  return invoice.tries > 0 || invoice.overdueFrom !== null ? 'failed' : 'pending';
}

function move({ status: from }: InvoiceFacts, to: InvoiceStatus): InvoiceStatus {
  INVOICE_MOVES.check(from, to);
  return to;
}

/** Its page closes, if it still has one, without news: another payment has come. */
export function paidInvoice(invoice: InvoiceFacts, now: number): InvoiceFacts {
  return {
    ...invoice,
    status: move(invoice, 'paid'),
    paymentStatus: 'completed',
    page: invoice.page === 'open' ? 'expired' : invoice.page,
    liveAttempt: null,
    nextTryAt: null,
    paidAt: now,
  };
}

export function voidInvoice(invoice: InvoiceFacts, as: 'canceled' | 'expired'): InvoiceFacts {
  const page = invoice.page === 'open' ? as : invoice.page;
  return {
    ...invoice,
    status: move(invoice, 'void'),
    paymentStatus: as,
    page,
    nextTryAt: null,
    reduction: 0n,
  };
}
