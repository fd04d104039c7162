import {
  type CapUse,
  type InvoiceFacts,
  isPageInvoice,
  mayStillBePaid,
} from '../../invoices/decide/index.ts';
import type { BillingDraft } from './draft.ts';
import {
  dunningOffsets,
  FIRST_PAYMENT_OFFSETS,
  nextTry,
  offsetsPassed,
  overdueSince,
  type Schedule,
} from './dunning.ts';
import { cancelIfDue, cancelUnpaid } from './end.ts';
import { deductReduction } from './give-back.ts';
import { invoicePaid } from './pay.ts';
import { boundary, periodIndex } from './periods.ts';

/** Seconds until the next try after an error on our side, which does not count as a try. */
const TROUBLE_RETRY_SECONDS = 180;

/** These codes end the charges of a mandate, but not the schedule: another mandate, or the page, can still pay. */
const ENDING = new Set(['mandate_revoked', 'address_risk']);
/** Errors on our side, which do not count as a failed charge. */
const OURS = new Set(['network_unavailable', 'fee_too_high']);

/** Whether a mandate can be charged, from readings made before the transaction. */
export type ChargeCheck =
  /** The chain or a rate cannot be read now, or pending charges of the wallet must become final first. */
  | { kind: 'unavailable' }
  /** The charge would fail, so it is not sent. */
  | { kind: 'declined'; code: string }
  | {
      kind: 'ready';
      methodId: string;
      /** In units of the token. */
      amount: bigint;
      /** The mandate's cap per window. */
      cap: bigint;
      /** The part of this window's cap that other charges use. */
      used: bigint;
    };

/** `waits`: nothing was tried; the next try is at the invoice's `nextTryAt`. */
export type TryDecision =
  | { did: 'ordered'; capUse: CapUse }
  | { did: 'declined'; code: string }
  | { did: 'waits' };

/** The window of the cap: one period of the anchor's grid. */
export function chargeWindowAt({ anchor, interval }: BillingDraft['subscription'], now: number) {
  const n = periodIndex(anchor, interval, now);
  return { start: boundary(anchor, interval, n), end: boundary(anchor, interval, n + 1) };
}

/**
 * Decides a try of an invoice without a pending charge. If it is `ordered`, the caller orders the charge and calls
 * `orderedCharge`.
 */
export function tryCharge(draft: BillingDraft, invoiceId: string, check: ChargeCheck): TryDecision {
  const { now } = draft;
  const invoice = draft.invoice(invoiceId);
  if (check.kind === 'unavailable') return wait(draft, invoice, now + TROUBLE_RETRY_SECONDS);
  if (check.kind === 'declined') {
    if (OURS.has(check.code)) return wait(draft, invoice, now + TROUBLE_RETRY_SECONDS);
    return decline(draft, invoice, check.code);
  }
  const { methodId, amount, cap, used } = check;
  if (amount > cap) return decline(draft, invoice, 'cap_exceeded');
  const window = chargeWindowAt(draft.subscription, now);
  if (used + amount > cap) return wait(draft, invoice, window.end);
  const capUse = { methodId, windowStart: window.start, amount };
  return { did: 'ordered', capUse };
}

/** The charge is ordered and pending. */
export function orderedCharge(
  draft: BillingDraft,
  invoiceId: string,
  { capUse, paymentId }: { capUse: CapUse; paymentId: string },
): void {
  const invoice = draft.invoice(invoiceId);
  draft.put({ ...invoice, pendingChargeId: paymentId, triedAt: draft.now, nextTryAt: null, capUse });
}

function wait(draft: BillingDraft, invoice: InvoiceFacts, until: number): TryDecision {
  draft.put({ ...invoice, nextTryAt: until });
  return { did: 'waits' };
}

function decline(draft: BillingDraft, invoice: InvoiceFacts, code: string): TryDecision {
  draft.put({ ...invoice, triedAt: draft.now });
  draft.emit('payment.failed', invoice.id);
  tryFailed(draft, invoice.id, code);
  return { did: 'declined', code };
}

/** A sent charge has succeeded and is final. */
export function chargeSucceeded(draft: BillingDraft, invoiceId: string): void {
  draft.emit('payment.completed', invoiceId);
  invoicePaid(draft, invoiceId);
  cancelIfDue(draft);
}

/** A sent charge has failed for good. */
export function chargeFailed(draft: BillingDraft, invoiceId: string, code: string): void {
  draft.emit('payment.failed', invoiceId);
  // A reduction made meanwhile is deducted now. If nothing remains to be paid, the invoice has not failed.
  const failed = { ...draft.invoice(invoiceId), pendingChargeId: null };
  if (failed.reduction > 0n && !mayStillBePaid(failed)) {
    draft.put(failed);
    deductReduction(draft, invoiceId);
    const reduced = draft.invoice(invoiceId);
    if (reduced.status !== 'open') {
      draft.put({ ...reduced, capUse: null });
      cancelIfDue(draft);
      return;
    }
  }
  if (OURS.has(code)) {
    const nextTryAt = draft.now + TROUBLE_RETRY_SECONDS;
    draft.put({ ...draft.invoice(invoiceId), pendingChargeId: null, capUse: null, nextTryAt });
    cancelIfDue(draft);
    return;
  }
  tryFailed(draft, invoiceId, code);
}

/** Charges that were not sent are taken off their invoices, which another try may pay. None of them counts as a try. */
export function chargesWithdrawn(draft: BillingDraft, invoiceIds: readonly string[]): void {
  for (const id of invoiceIds) {
    draft.emit('payment.failed', id);
    draft.put({ ...draft.invoice(id), pendingChargeId: null, capUse: null, nextTryAt: draft.now });
  }
}

/**
 * A sent charge is final, but its wallet was sanctioned meanwhile: it pays nothing, and its mandate is not charged again.
 * It still uses its part of the cap.
 */
export function chargeSeized(draft: BillingDraft, invoiceId: string): void {
  draft.emit('payment.failed', invoiceId);
  const { capUse } = draft.invoice(invoiceId);
  tryFailed(draft, invoiceId, 'address_risk', capUse);
}

/**
 * A failed try that counts. The invoice gets a page, the subscription is past due, and after the last try it is
 * canceled. Where another mandate was given while the charge was pending, it says nothing of that one: it is tried at once.
 */
function tryFailed(draft: BillingDraft, invoiceId: string, code: string, taken: CapUse | null = null): void {
  const failed = draft.invoice(invoiceId);
  draft.emit('invoice.payment_failed', invoiceId);
  const overdueFrom = overdueFromNow(draft, failed);
  const schedule = scheduleOf(draft, overdueFrom);
  const dunningDaysPassed = schedule === null ? 0 : offsetsPassed(schedule, failed.triedAt ?? draft.now);
  const tries = failed.tries + 1;
  const counted = { ...failed, pendingChargeId: null, capUse: taken, tries, overdueFrom, dunningDaysPassed };
  const isOfReplacedMandate =
    failed.capUse !== null && failed.capUse.methodId !== draft.subscription.methodId;
  if (isOfReplacedMandate) {
    draft.put({ ...counted, nextTryAt: draft.now });
    markPastDue(draft, invoiceId);
    endTry(draft, invoiceId);
    return;
  }
  const nextTryAt = schedule && nextTry(schedule, dunningDaysPassed);
  draft.put({ ...counted, nextTryAt, chargesEnded: failed.chargesEnded || ENDING.has(code) });
  markPastDue(draft, invoiceId);
  const isLastTry = overdueFrom !== null && dunningDaysPassed === draft.rules.dunningDays.length;
  if (isLastTry && !draft.isAnyPaymentPending) cancelUnpaid(draft);
  else endTry(draft, invoiceId);
}

/** What follows a failed try that was not the last one. */
function endTry(draft: BillingDraft, invoiceId: string): void {
  cancelIfDue(draft);
  givePage(draft, invoiceId);
}

/** A mandate's invoice is overdue from its first failed charge, a page's from its due date. */
function overdueFromNow({ now, subscription }: BillingDraft, invoice: InvoiceFacts): number | null {
  if (invoice.overdueFrom !== null || subscription.status === 'incomplete') return invoice.overdueFrom;
  if (!isPageInvoice(invoice)) return now;
  return invoice.dueDate <= now ? overdueSince(invoice, now) : null;
}

/** The schedule of further tries; null: none, because the invoice is not overdue yet. */
function scheduleOf({ subscription, rules }: BillingDraft, overdueFrom: number | null): Schedule | null {
  if (subscription.status === 'incomplete')
    return { from: subscription.createdAt, offsets: FIRST_PAYMENT_OFFSETS };
  if (overdueFrom === null) return null;
  return { from: overdueFrom, offsets: dunningOffsets(rules.dunningDays) };
}

/** Makes the subscription past due, because an invoice is overdue. */
export function markPastDue(draft: BillingDraft, invoiceId: string): void {
  const { status } = draft.subscription;
  if (draft.invoice(invoiceId).overdueFrom === null) return;
  if (status !== 'trialing' && status !== 'active') return;
  draft.move('past_due');
  draft.emit('subscription.past_due');
}

function givePage(draft: BillingDraft, invoiceId: string): void {
  const invoice = draft.invoice(invoiceId);
  if (invoice.status === 'open' && invoice.page === 'none') draft.put({ ...invoice, page: 'open' });
}

/** A page has paid its invoice. The events of the payment itself are already recorded. */
export function pagePaid(draft: BillingDraft, invoiceId: string): void {
  invoicePaid(draft, invoiceId);
  cancelIfDue(draft);
}
