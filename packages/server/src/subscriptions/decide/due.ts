import {
  hasPendingPayment,
  type InvoiceFacts,
  isPageInvoice,
  mayStillBePaid,
} from '../../invoices/decide/index.ts';
import { isFinal, isRunning } from '../states.ts';
import { markPastDue, pagePaid } from './charge.ts';
import { BillingDraft, type DecisionContext } from './draft.ts';
import { dunningOffsets, FIRST_PAYMENT_SECONDS, nextTry, overdueSince, scheduleEnd } from './dunning.ts';
import { cancel, cancelUnpaid, expireIncomplete } from './end.ts';
import type { BillingRules, Decision, Facts } from './facts.ts';
import { deductReduction } from './give-back.ts';
import { nextPeriodStart, openCycle, skipCycle } from './open-invoice.ts';
import { movedBySuspension } from './suspension.ts';

/** How often open invoices of a suspended merchant are checked for the end of the suspension. */
const SUSPENDED_POLL_SECONDS = 900;

/** What is due next because of time: a change, a charge to try, or nothing before `at` (null: nothing at all). */
export type Due =
  | {
      do: 'change';
      decision: Decision;
      /** The payers' deadline, if the change ends an invoice unpaid; else null. */
      deadline: number | null;
    }
  | { do: 'try'; invoiceId: string }
  | { do: 'wait'; at: number | null };

/**
 * Decides one step. If several are due, the order is: payments of pages, cancels, the 23 hours of a first payment, due
 * dates, tries, renewals. No step ends an invoice unpaid while money for it is pending; the job that makes the money
 * final decides again. While the merchant is suspended, nothing is tried, overdue or billed.
 *
 * @param mayGiveUp false: it is not known yet whether money came in time, so no step may end an invoice unpaid
 */
export function decideDue(stored: Facts, context: DecisionContext, mayGiveUp = true): Due {
  const shifted = shiftedFacts(stored, context);
  const { subscription, invoices } = shifted;
  if (isFinal(subscription.status)) return { do: 'wait', at: null };
  const due = hasStaleDueDates(stored, shifted, context) ? SHIFT_DUE_DATES : dueChange(shifted, context);
  if (due !== undefined && (mayGiveUp || due.deadline === null)) {
    const draft = new BillingDraft(stored, context);
    due.change(draft);
    return { do: 'change', decision: draft.decision, deadline: due.deadline };
  }
  const { now, rules } = context;
  if (isEnding(shifted, now)) return { do: 'wait', at: null };
  if (isSuspended(context)) return dueWhileSuspended(shifted, context);
  const tried = invoices.find((invoice) => {
    const at = tryAt(shifted, invoice);
    return at !== null && at <= now;
  });
  if (tried !== undefined) return { do: 'try', invoiceId: tried.id };
  if (isRenewalDue(shifted, now)) return changeTo(shifted, context, openCycle);
  return { do: 'wait', at: nextDeadline(shifted, rules, now) };
}

/**
 * Of a renewal. It begins with the shifted facts, so that it writes no shift: outside of a suspension there is none that is not
 * stored (`SHIFT_DUE_DATES` came first), and within one the rest of it is written when it ends.
 */
function changeTo(shifted: Facts, context: DecisionContext, change: (draft: BillingDraft) => unknown): Due {
  const draft = new BillingDraft(shifted, context);
  change(draft);
  return { do: 'change', decision: draft.decision, deadline: null };
}

/** The facts with the times of open invoices shifted by suspensions. */
function shiftedFacts(stored: Facts, { suspension }: DecisionContext): Facts {
  if (suspension === undefined) return stored;
  return { ...stored, invoices: stored.invoices.map((invoice) => movedBySuspension(invoice, suspension)) };
}

/** Whether a suspension is over and the stored due dates, which the API shows, are not shifted yet. */
const hasStaleDueDates = (stored: Facts, shifted: Facts, context: DecisionContext) =>
  !isSuspended(context) && shifted.invoices.some((invoice, i) => invoice !== stored.invoices[i]);

/** Changes nothing itself, by design: the draft that it gets has already shifted the due dates of the stored open invoices. */
const SHIFT_DUE_DATES: DueChange = { change: () => {}, deadline: null };

const isSuspended = ({ suspension }: DecisionContext) => suspension?.isSuspended === true;

/** Open invoices wait and are checked every `SUSPENDED_POLL_SECONDS`; a due renewal is recorded as skipped. */
function dueWhileSuspended(facts: Facts, context: DecisionContext): Due {
  const { now } = context;
  if (isRenewalDue(facts, now)) return changeTo(facts, context, skipCycle);
  const pollAt = facts.invoices.length === 0 ? null : now + SUSPENDED_POLL_SECONDS;
  return { do: 'wait', at: earliest([...subscriptionDeadlines(facts), pollAt], now) };
}

interface DueChange {
  change: (draft: BillingDraft) => void;
  deadline: number | null;
}

/** The change that is due before any try. */
function dueChange(facts: Facts, context: DecisionContext): DueChange | undefined {
  const { now } = context;
  const { subscription, invoices } = facts;
  const paid = invoices.find(({ page }) => page === 'paid');
  if (paid !== undefined) return { change: (draft) => pagePaid(draft, paid.id), deadline: null };
  const reduced = invoices.find((invoice) => invoice.reduction > 0n && !mayStillBePaid(invoice));
  if (reduced !== undefined) return { change: (draft) => deductReduction(draft, reduced.id), deadline: null };
  const isAnyPaymentPending = invoices.some(hasPendingPayment);
  const { cancelAt } = subscription;
  if (cancelAt !== null && cancelAt <= now)
    return isAnyPaymentPending ? undefined : { change: cancel, deadline: cancelAt };
  if (subscription.status === 'incomplete') {
    const deadline = firstPaymentDeadline(facts);
    return deadline <= now && !isAnyPaymentPending ? { change: expireIncomplete, deadline } : undefined;
  }
  return isSuspended(context) ? undefined : dueDunningChange(facts, context);
}

/** The change that dunning makes: an invoice becomes overdue, or the subscription is canceled. */
function dueDunningChange(facts: Facts, { now, rules }: DecisionContext): DueChange | undefined {
  const { invoices } = facts;
  const late = invoices.find((invoice) => isNewlyOverdue(invoice, now));
  if (late !== undefined) return { change: (draft) => markOverdue(draft, late.id), deadline: late.dueDate };
  const ends = invoices.map((invoice) => dunningEnd(facts, invoice, rules));
  const deadline = ends.find((at) => at !== null && at <= now) ?? null;
  return deadline !== null && !invoices.some(hasPendingPayment)
    ? { change: cancelUnpaid, deadline }
    : undefined;
}

const firstPaymentDeadline = ({ subscription }: Facts) => subscription.createdAt + FIRST_PAYMENT_SECONDS;

/** Whether the subscription's end is due but waits for pending money: nothing else begins meanwhile. */
export function isEnding(facts: Facts, now: number): boolean {
  const { cancelAt, status } = facts.subscription;
  return (
    (cancelAt !== null && cancelAt <= now) || (status === 'incomplete' && firstPaymentDeadline(facts) <= now)
  );
}

const isNewlyOverdue = (invoice: InvoiceFacts, now: number) =>
  isPageInvoice(invoice) &&
  invoice.overdueFrom === null &&
  invoice.dueDate <= now &&
  !hasPendingPayment(invoice);

/** Marks a page invoice as overdue. A mandate given meanwhile is charged on the invoice's dunning days. */
function markOverdue(draft: BillingDraft, invoiceId: string): void {
  const invoice = draft.invoice(invoiceId);
  const { nextTryAt } = invoice;
  const from = overdueSince(invoice, draft.now);
  const offsets = dunningOffsets(draft.rules.dunningDays);
  draft.put({ ...invoice, overdueFrom: from, nextTryAt: nextTryAt ?? nextTry({ from, offsets }, 0) });
  draft.emit('invoice.payment_failed', invoiceId);
  markPastDue(draft, invoiceId);
}

/** When the mandate is charged for the invoice; null: only its page can pay it now. */
function tryAt({ subscription }: Facts, invoice: InvoiceFacts): number | null {
  const mayCharge = subscription.methodId !== null && !invoice.chargesEnded && !hasPendingPayment(invoice);
  return mayCharge ? invoice.nextTryAt : null;
}

/** When dunning ends for an overdue invoice without a further try or a pending payment; else null. */
function dunningEnd(facts: Facts, invoice: InvoiceFacts, rules: BillingRules): number | null {
  if (invoice.overdueFrom === null || hasPendingPayment(invoice) || tryAt(facts, invoice) !== null)
    return null;
  return scheduleEnd({ from: invoice.overdueFrom, offsets: dunningOffsets(rules.dunningDays) });
}

/** Whether the next period is to be billed: the last paid one is over and no cycle invoice is open. */
function isRenewalDue({ subscription, invoices }: Facts, now: number): boolean {
  if (!isRunning(subscription.status) || nextPeriodStart(subscription) > now) return false;
  return !invoices.some(({ reason }) => reason === 'subscription_cycle');
}

/** The next deadline. */
function nextDeadline(facts: Facts, rules: BillingRules, now: number): number | null {
  const { subscription, invoices } = facts;
  const isIncomplete = subscription.status === 'incomplete';
  const ofInvoices = invoices.flatMap((invoice) => [
    tryAt(facts, invoice),
    dunningEnd(facts, invoice, rules),
    !isIncomplete && isPageInvoice(invoice) && invoice.overdueFrom === null && !hasPendingPayment(invoice)
      ? invoice.dueDate
      : null,
  ]);
  return earliest([...subscriptionDeadlines(facts), ...ofInvoices], now);
}

/** When the subscription itself ends or is renewed, independent of its open invoices. */
function subscriptionDeadlines(facts: Facts): (number | null)[] {
  const { subscription, invoices } = facts;
  const isIncomplete = subscription.status === 'incomplete';
  const hasCycle = invoices.some(({ reason }) => reason === 'subscription_cycle');
  return [
    subscription.cancelAt,
    isIncomplete ? firstPaymentDeadline(facts) : null,
    hasCycle || isIncomplete ? null : nextPeriodStart(subscription),
  ];
}

function earliest(times: readonly (number | null)[], now: number): number | null {
  const ahead = times.flatMap((time) => (time !== null && time > now ? [time] : []));
  return ahead.length === 0 ? null : Math.min(...ahead);
}
