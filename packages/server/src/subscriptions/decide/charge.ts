import { type CapUse, type InvoiceFacts, isBusy, isPageInvoice } from '../../invoices/index.ts';
import type { Draft } from './draft.ts';
import {
  dunningOffsets,
  FIRST_PAYMENT_OFFSETS,
  nextTry,
  offsetsPassed,
  overdueSince,
  type Schedule,
} from './dunning.ts';
import { cancelIfDue, cancelUnpaid } from './end.ts';
import { takeOff } from './give-back.ts';
import { invoicePaid } from './pay.ts';
import { boundary, periodIndex } from './periods.ts';

/** After trouble on our side, in seconds: it counts as no try. */
const TROUBLE_RETRY_SECONDS = 180;

/** These end the charges of a mandate, not the schedule: another mandate, or the page, can still pay. */
const ENDING = new Set(['mandate_revoked', 'address_risk']);
/** Trouble on our side: nobody's failure. */
const OURS = new Set(['network_unavailable', 'fee_too_high']);

/** What was read of a mandate, outside of every transaction, before it is charged. */
export type Reading =
  /** The chain, or a rate, cannot be read now. */
  | { kind: 'unavailable' }
  /** The charge could only fail, so it is not sent. */
  | { kind: 'declined'; code: string }
  | {
      kind: 'ready';
      methodId: string;
      /** In units of the token. */
      amount: bigint;
      /** Of the mandate, for each window. */
      cap: bigint;
      /** What other charges take of this window. */
      used: bigint;
    };

/** `waits`: nothing was tried, and it is looked at again at the invoice's `nextTryAt`. */
export type Attempt =
  | { did: 'ordered'; capUse: CapUse }
  | { did: 'declined'; code: string }
  | { did: 'waits' };

/** What the cap counts: one period of the anchor's grid. */
export function windowAt({ anchor, interval }: Draft['subscription'], now: number) {
  const n = periodIndex(anchor, interval, now);
  return { start: boundary(anchor, interval, n), end: boundary(anchor, interval, n + 1) };
}

/** Decides a try of an invoice that has no live attempt. An order is made next, and noted by `orderedCharge`. */
export function tryCharge(draft: Draft, invoiceId: string, reading: Reading): Attempt {
  const { now } = draft;
  const invoice = draft.invoice(invoiceId);
  if (reading.kind === 'unavailable') return wait(draft, invoice, now + TROUBLE_RETRY_SECONDS);
  if (reading.kind === 'declined') {
    if (OURS.has(reading.code)) return wait(draft, invoice, now + TROUBLE_RETRY_SECONDS);
    return decline(draft, invoice, reading.code);
  }
  const { methodId, amount, cap, used } = reading;
  if (amount > cap) return decline(draft, invoice, 'cap_exceeded');
  const window = windowAt(draft.subscription, now);
  if (used + amount > cap) return wait(draft, invoice, window.end);
  const capUse = { methodId, windowStart: window.start, amount };
  return { did: 'ordered', capUse };
}

/** The charge is on its way. */
export function orderedCharge(
  draft: Draft,
  invoiceId: string,
  { capUse, paymentId }: { capUse: CapUse; paymentId: string },
): void {
  const invoice = draft.invoice(invoiceId);
  draft.put({ ...invoice, liveAttempt: paymentId, attemptAt: draft.now, nextTryAt: null, capUse });
}

function wait(draft: Draft, invoice: InvoiceFacts, until: number): Attempt {
  draft.put({ ...invoice, nextTryAt: until });
  return { did: 'waits' };
}

function decline(draft: Draft, invoice: InvoiceFacts, code: string): Attempt {
  draft.put({ ...invoice, attemptAt: draft.now });
  draft.tell('payment.failed', invoice.id);
  tryFailed(draft, invoice.id, code);
  return { did: 'declined', code };
}

/** A charge that was sent is final. */
export function chargeSucceeded(draft: Draft, invoiceId: string): void {
  draft.tell('payment.completed', invoiceId);
  invoicePaid(draft, invoiceId);
  cancelIfDue(draft);
}

/** A charge that was sent has failed for good. */
export function chargeFailed(draft: Draft, invoiceId: string, code: string): void {
  draft.tell('payment.failed', invoiceId);
  // What was given back meanwhile is not asked for again, and an invoice of nothing else has not failed.
  const failed = { ...draft.invoice(invoiceId), liveAttempt: null };
  if (failed.reduction > 0n && !isBusy(failed)) {
    draft.put(failed);
    takeOff(draft, invoiceId);
    const reduced = draft.invoice(invoiceId);
    if (reduced.status !== 'open') {
      draft.put({ ...reduced, capUse: null });
      cancelIfDue(draft);
      return;
    }
  }
  if (OURS.has(code)) {
    const nextTryAt = draft.now + TROUBLE_RETRY_SECONDS;
    draft.put({ ...draft.invoice(invoiceId), liveAttempt: null, capUse: null, nextTryAt });
    cancelIfDue(draft);
    return;
  }
  tryFailed(draft, invoiceId, code);
}

/**
 * A charge that was sent is final, but its wallet was listed meanwhile: nothing is paid by it, and its mandate is charged
 * no more. It has taken its part of the cap all the same.
 */
export function chargeSeized(draft: Draft, invoiceId: string): void {
  draft.tell('payment.failed', invoiceId);
  const { capUse } = draft.invoice(invoiceId);
  tryFailed(draft, invoiceId, 'address_risk', capUse);
}

/** A try that counts: its invoice gets a page, its subscription falls behind, and after the last one it ends. */
function tryFailed(draft: Draft, invoiceId: string, code: string, taken: CapUse | null = null): void {
  const failed = draft.invoice(invoiceId);
  draft.tell('invoice.payment_failed', invoiceId);
  const overdueFrom = overdueFromNow(draft, failed);
  const schedule = scheduleOf(draft, overdueFrom);
  const daysSpent = schedule === null ? 0 : offsetsPassed(schedule, failed.attemptAt ?? draft.now);
  // Another mandate was given while this one's charge was on its way.
  const isOfLast = failed.capUse === null || failed.capUse.methodId === draft.subscription.methodId;
  draft.put({
    ...failed,
    liveAttempt: null,
    capUse: taken,
    tries: failed.tries + 1,
    chargesEnded: failed.chargesEnded || (isOfLast && ENDING.has(code)),
    overdueFrom,
    daysSpent,
    nextTryAt: isOfLast ? schedule && nextTry(schedule, daysSpent) : draft.now,
  });
  markPastDue(draft, invoiceId);
  const isOver = isOfLast && overdueFrom !== null && daysSpent === draft.rules.dunningDays.length;
  if (isOver && !draft.isAnyLive) cancelUnpaid(draft);
  else {
    cancelIfDue(draft);
    givePage(draft, invoiceId);
  }
}

/** A mandate's invoice is overdue from its first failed charge, a page's from its due date. */
function overdueFromNow({ now, subscription }: Draft, invoice: InvoiceFacts): number | null {
  if (invoice.overdueFrom !== null || subscription.status === 'incomplete') return invoice.overdueFrom;
  if (!isPageInvoice(invoice)) return now;
  return invoice.dueDate <= now ? overdueSince(invoice, now) : null;
}

/** When an invoice is tried again; null: not by itself, as it is not yet overdue. */
function scheduleOf({ subscription, rules }: Draft, overdueFrom: number | null): Schedule | null {
  if (subscription.status === 'incomplete')
    return { from: subscription.createdAt, offsets: FIRST_PAYMENT_OFFSETS };
  if (overdueFrom === null) return null;
  return { from: overdueFrom, offsets: dunningOffsets(rules.dunningDays) };
}

/** The subscription is past due once an invoice of it is overdue. */
export function markPastDue(draft: Draft, invoiceId: string): void {
  const { status } = draft.subscription;
  if (draft.invoice(invoiceId).overdueFrom === null) return;
  if (status !== 'trialing' && status !== 'active') return;
  draft.move('past_due');
  draft.tell('subscription.past_due');
}

function givePage(draft: Draft, invoiceId: string): void {
  const invoice = draft.invoice(invoiceId);
  if (invoice.status === 'open' && invoice.page === 'none') draft.put({ ...invoice, page: 'open' });
}

/** A page has paid its invoice; the news of the payment itself is told already. */
export function pagePaid(draft: Draft, invoiceId: string): void {
  invoicePaid(draft, invoiceId);
  cancelIfDue(draft);
}
