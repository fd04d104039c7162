import { type InvoiceFacts, isBusy, isLive, isPageInvoice } from '../../invoices/decide/index.ts';
import { isFinal, isRunning } from '../states.ts';
import { markPastDue, pagePaid } from './charge.ts';
import { type DecisionContext, Draft } from './draft.ts';
import { dunningOffsets, FIRST_PAYMENT_SECONDS, nextTry, overdueSince, scheduleEnd } from './dunning.ts';
import { cancel, cancelUnpaid, expireIncomplete } from './end.ts';
import type { BillingRules, Decision, Facts } from './facts.ts';
import { takeOff } from './give-back.ts';
import { nextPeriodStart, openCycle, skipCycle } from './open-invoice.ts';
import { movedBySuspension } from './suspension.ts';

/** How often open invoices of a suspended merchant are checked for the end of the suspension. */
const SUSPENDED_POLL_SECONDS = 900;

/** What is due next because of time: a change, a charge to try, or nothing before `at` (null: nothing at all). */
export type Due =
  | {
      do: 'change';
      decision: Decision;
      /** The payers' deadline, if the change gives up on unpaid money; else null. */
      deadline: number | null;
    }
  | { do: 'try'; invoiceId: string }
  | { do: 'wait'; at: number | null };

/**
 * Decides one step. If several are due, the order is: payments of pages, cancels, the 23 hours of a first payment, due
 * dates, tries, renewals. No step gives up on an invoice while money for it is pending; the job that makes the money
 * final decides again. While the merchant is suspended, nothing is tried, overdue or billed.
 *
 * @param mayGiveUp false: it is not known yet whether money came in time. Steps that do not depend on it go on
 */
export function decideDue(stored: Facts, context: DecisionContext, mayGiveUp = true): Due {
  const facts = factsNow(stored, context);
  const { subscription, invoices } = facts;
  if (isFinal(subscription.status)) return { do: 'wait', at: null };
  const due = isBehind(stored, facts, context) ? CATCH_UP : changeDue(facts, context);
  if (due !== undefined && (mayGiveUp || due.deadline === null)) {
    const draft = new Draft(stored, context);
    due.change(draft);
    return { do: 'change', decision: draft.decision, deadline: due.deadline };
  }
  const { now, rules } = context;
  if (isEnding(facts, now)) return { do: 'wait', at: null };
  if (isSuspended(context)) return dueSuspended(facts, context);
  const tried = invoices.find((invoice) => {
    const at = tryAt(facts, invoice);
    return at !== null && at <= now;
  });
  if (tried !== undefined) return { do: 'try', invoiceId: tried.id };
  if (renewsAt(facts, now)) return changeTo(facts, context, openCycle);
  return { do: 'wait', at: nextInstant(facts, rules, now) };
}

function changeTo(facts: Facts, context: DecisionContext, change: (draft: Draft) => unknown): Due {
  const draft = new Draft(facts, context);
  change(draft);
  return { do: 'change', decision: draft.decision, deadline: null };
}

/** The facts with the times of open invoices shifted by suspensions. */
function factsNow(stored: Facts, { suspension }: DecisionContext): Facts {
  if (suspension === undefined) return stored;
  return { ...stored, invoices: stored.invoices.map((invoice) => movedBySuspension(invoice, suspension)) };
}

/** Whether a suspension is over and the stored due dates, which the API shows, are not shifted yet. */
const isBehind = (stored: Facts, facts: Facts, context: DecisionContext) =>
  !isSuspended(context) && facts.invoices.some((invoice, i) => invoice !== stored.invoices[i]);

/** Changes nothing itself: the draft shifts the times of open invoices. */
const CATCH_UP: ChangeDue = { change: () => {}, deadline: null };

const isSuspended = ({ suspension }: DecisionContext) => suspension?.isSuspended === true;

/** Open invoices wait and are checked every `SUSPENDED_POLL_SECONDS`; a due renewal is recorded as skipped. */
function dueSuspended(facts: Facts, context: DecisionContext): Due {
  const { now } = context;
  if (renewsAt(facts, now)) return changeTo(facts, context, skipCycle);
  const pollAt = facts.invoices.length === 0 ? null : now + SUSPENDED_POLL_SECONDS;
  return { do: 'wait', at: earliest([...ownInstants(facts), pollAt], now) };
}

interface ChangeDue {
  change: (draft: Draft) => void;
  deadline: number | null;
}

/** The changes that take precedence over tries. */
function changeDue(facts: Facts, context: DecisionContext): ChangeDue | undefined {
  const { now } = context;
  const { subscription, invoices } = facts;
  const paid = invoices.find(({ page }) => page === 'paid');
  if (paid !== undefined) return { change: (draft) => pagePaid(draft, paid.id), deadline: null };
  const reduced = invoices.find((invoice) => invoice.reduction > 0n && !isBusy(invoice));
  if (reduced !== undefined) return { change: (draft) => takeOff(draft, reduced.id), deadline: null };
  const isAnyLive = invoices.some(isLive);
  const { cancelAt } = subscription;
  if (cancelAt !== null && cancelAt <= now)
    return isAnyLive ? undefined : { change: cancel, deadline: cancelAt };
  if (subscription.status === 'incomplete') {
    const deadline = endsFirst(facts);
    return deadline <= now && !isAnyLive ? { change: expireIncomplete, deadline } : undefined;
  }
  return isSuspended(context) ? undefined : dunningDue(facts, context);
}

/** The due change of unpaid invoices. */
function dunningDue(facts: Facts, { now, rules }: DecisionContext): ChangeDue | undefined {
  const { invoices } = facts;
  const late = invoices.find((invoice) => isDueUnpaid(invoice, now));
  if (late !== undefined) return { change: (draft) => dueUnpaid(draft, late.id), deadline: late.dueDate };
  const ends = invoices.map((invoice) => silentEnd(facts, invoice, rules));
  const deadline = ends.find((at) => at !== null && at <= now) ?? null;
  return deadline !== null && !invoices.some(isLive) ? { change: cancelUnpaid, deadline } : undefined;
}

const endsFirst = ({ subscription }: Facts) => subscription.createdAt + FIRST_PAYMENT_SECONDS;

/** Whether the end is due but waits for pending money: nothing else begins. */
function isEnding(facts: Facts, now: number): boolean {
  const { cancelAt, status } = facts.subscription;
  return (cancelAt !== null && cancelAt <= now) || (status === 'incomplete' && endsFirst(facts) <= now);
}

const isDueUnpaid = (invoice: InvoiceFacts, now: number) =>
  isPageInvoice(invoice) && invoice.overdueFrom === null && invoice.dueDate <= now && !isLive(invoice);

/** A page invoice is overdue. A mandate given meanwhile is charged on the invoice's dunning days. */
function dueUnpaid(draft: Draft, invoiceId: string): void {
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
  const mayCharge = subscription.methodId !== null && !invoice.chargesEnded && !isLive(invoice);
  return mayCharge ? invoice.nextTryAt : null;
}

/** When dunning ends for an invoice without a further scheduled try. */
function silentEnd(facts: Facts, invoice: InvoiceFacts, rules: BillingRules): number | null {
  if (invoice.overdueFrom === null || isLive(invoice) || tryAt(facts, invoice) !== null) return null;
  return scheduleEnd({ from: invoice.overdueFrom, offsets: dunningOffsets(rules.dunningDays) });
}

/** Whether the next period is to be billed: the last paid one is over and no cycle invoice is open. */
function renewsAt({ subscription, invoices }: Facts, now: number): boolean {
  if (!isRunning(subscription.status) || nextPeriodStart(subscription) > now) return false;
  return !invoices.some(({ reason }) => reason === 'subscription_cycle');
}

/** The next deadline. */
function nextInstant(facts: Facts, rules: BillingRules, now: number): number | null {
  const { subscription, invoices } = facts;
  const isFirst = subscription.status === 'incomplete';
  const ofInvoices = invoices.flatMap((invoice) => [
    tryAt(facts, invoice),
    silentEnd(facts, invoice, rules),
    !isFirst && isPageInvoice(invoice) && invoice.overdueFrom === null && !isLive(invoice)
      ? invoice.dueDate
      : null,
  ]);
  return earliest([...ownInstants(facts), ...ofInvoices], now);
}

/** When the subscription itself ends or is renewed, independent of its open invoices. */
function ownInstants(facts: Facts): (number | null)[] {
  const { subscription, invoices } = facts;
  const isFirst = subscription.status === 'incomplete';
  const hasCycle = invoices.some(({ reason }) => reason === 'subscription_cycle');
  return [
    subscription.cancelAt,
    isFirst ? endsFirst(facts) : null,
    hasCycle || isFirst ? null : nextPeriodStart(subscription),
  ];
}

function earliest(times: readonly (number | null)[], now: number): number | null {
  const ahead = times.flatMap((time) => (time !== null && time > now ? [time] : []));
  return ahead.length === 0 ? null : Math.min(...ahead);
}
