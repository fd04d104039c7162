import type { BillingReason, InvoicePaymentStatus, InvoiceStatus } from '@florin/contract/schemas';
import { Moves } from '../../platform/db/guards/index.ts';

// An invoice: open → paid | void. `payment_status`: pending ⇄ processing → completed | failed (open, tried again) |
// canceled | expired.
// Invariant: an open invoice has at most one pending charge (`pendingChargeId`), any other has none, and no invoice becomes
// void while a charge or a deposit for it is not final. A void or paid invoice never changes again, except for the
// credited amount of a paid one, which the API does not show.
// Every change holds the lock of its subscription. After a crash between two changes, the subscription's job continues
// from the last committed one.

/** All allowed moves. */
export const INVOICE_MOVES = new Moves<InvoiceStatus>('an invoice', {
  open: ['paid', 'void'],
  paid: [],
  void: [],
});

/**
 * State of the payment page, as `payments` has it (`InvoicePageState`), or `none`, or `canceled` by a decision. `money`: money was seen that may still pay it · `frozen`: a person must decide · `paid`: it has
 * paid the invoice, which is not updated yet · `expired`, `canceled`: ended.
 */
export type PageState = 'none' | 'open' | 'money' | 'frozen' | 'paid' | 'expired' | 'canceled';

/** The part of a mandate's cap that a charge uses, in units of the token; kept while the charge is pending or has paid. */
export interface CapUse {
  methodId: string;
  windowStart: number;
  amount: bigint;
}

/** Inputs and outputs of decisions about an invoice. Times are Unix seconds of the merchant's clock. */
export interface InvoiceFacts {
  id: string;
  reason: BillingReason;
  /** The amount due, after `creditApplied`. */
  amount: bigint;
  /** Paid by earlier credits. */
  creditApplied: bigint;
  /** The part of a paid invoice that was returned as a credit; at most `amount`. */
  credited: bigint;
  /** A reduction made while a payment was under way: deducted if that fails, a credit if it succeeds. */
  reduction: bigint;
  status: InvoiceStatus;
  paymentStatus: InvoicePaymentStatus;
  periodStart: number;
  periodEnd: number;
  /** Records a period that passed while an earlier one was unpaid. */
  isSkipped: boolean;
  page: PageState;
  /** The payment of the pending charge. */
  pendingChargeId: string | null;
  /** When a charge was last ordered or declined. */
  triedAt: number | null;
  /** Of the newest charge, while it counts against the cap. */
  capUse: CapUse | null;
  /** Failed charges that count as tries. */
  tries: number;
  nextTryAt: number | null;
  /** The mandate is revoked or its wallet sanctioned: only another mandate may be charged. */
  chargesEnded: boolean;
  /** When its dunning days start; null: not overdue. */
  overdueFrom: number | null;
  /** Of the merchant's dunning days, those that have passed: each is tried at most once. */
  dunningDaysPassed: number;
  dueDate: number;
  /** The merchant's total suspension time by which these times were already shifted. */
  suspendedSeconds: number;
  paidAt: number | null;
  createdAt: number;
}

/** Whether it is paid on a page; an invoice that a mandate pays is due at creation. */
export const isPageInvoice = ({ dueDate, createdAt }: InvoiceFacts) => dueDate > createdAt;

/** Whether a payment is pending, or has arrived and is not recorded yet; the invoice must not end meanwhile. */
export const hasPendingPayment = ({ status, pendingChargeId, page }: InvoiceFacts) =>
  status === 'open' && (pendingChargeId !== null || page === 'money' || page === 'paid');

/** Whether money that was seen, or a charge, may still pay the current amount; it must not change meanwhile. */
export const mayStillBePaid = (invoice: InvoiceFacts) =>
  hasPendingPayment(invoice) || invoice.page === 'frozen';

export const isOverdue = ({ status, overdueFrom }: InvoiceFacts) => status === 'open' && overdueFrom !== null;

/** The API's `payment_status` of an open invoice. */
export function openPaymentStatus(invoice: InvoiceFacts): InvoicePaymentStatus {
  if (hasPendingPayment(invoice)) return 'processing';
  return invoice.tries > 0 || invoice.overdueFrom !== null ? 'failed' : 'pending';
}

function move({ status: from }: InvoiceFacts, to: InvoiceStatus): InvoiceStatus {
  INVOICE_MOVES.check(from, to);
  return to;
}

/** Marks the invoice as paid. Its open page, if any, expires without an event. */
export function paidInvoice(invoice: InvoiceFacts, now: number): InvoiceFacts {
  return {
    ...invoice,
    status: move(invoice, 'paid'),
    paymentStatus: 'completed',
    page: invoice.page === 'open' ? 'expired' : invoice.page,
    pendingChargeId: null,
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
