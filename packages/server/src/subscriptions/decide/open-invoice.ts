import type { BillingReason } from '@florin/contract/schemas';
import { type InvoiceFacts, voidInvoice } from '../../invoices/index.ts';
import { rangesTo } from './billed-ranges.ts';
import type { Draft } from './draft.ts';
import { FIRST_PAYMENT_SECONDS } from './dunning.ts';
import type { SubscriptionFacts } from './facts.ts';
import { invoicePaid } from './pay.ts';
import { type Period, periodAt, periodIndex } from './periods.ts';
import { takeCredit } from './proration.ts';

interface NewInvoice {
  reason: BillingReason;
  /** Before what is left of earlier credits. */
  amount: bigint;
  period: Period;
}

/**
 * Opens an invoice, for a mandate or with a page, and pays it in the same change where nothing is due.
 *
 * The first invoice has its page from the start, unless it is to be charged at once: who has no mandate yet gives it
 * there.
 */
export function openInvoice(draft: Draft, { reason, amount: gross, period }: NewInvoice): InvoiceFacts {
  const { now, rules, subscription } = draft;
  const hasMandate = subscription.methodId !== null;
  const { amount, credit } = takeCredit(gross, subscription.credit);
  const pageSeconds = reason === 'subscription_create' ? FIRST_PAYMENT_SECONDS : rules.pageDueSeconds;
  const invoice: InvoiceFacts = {
    ...blank(draft, { reason, amount, period }),
    creditApplied: gross - amount,
    page: hasMandate || amount === 0n ? 'none' : 'open',
    nextTryAt: hasMandate && amount > 0n ? now : null,
    dueDate: hasMandate || amount === 0n ? now : now + pageSeconds,
  };
  draft.put(invoice);
  draft.change({ credit, latestInvoiceId: invoice.id });
  draft.tell('invoice.created', invoice.id);
  if (amount === 0n) invoicePaid(draft, invoice.id);
  return draft.invoice(invoice.id);
}

function blank(draft: Draft, { reason, amount, period }: NewInvoice): InvoiceFacts {
  return {
    id: draft.newId(),
    reason,
    amount,
    creditApplied: 0n,
    credited: 0n,
    reduction: 0n,
    status: 'open',
    paymentStatus: 'pending',
    periodStart: period.start,
    periodEnd: period.end,
    isSkipped: false,
    page: 'none',
    liveAttempt: null,
    attemptAt: null,
    capUse: null,
    tries: 0,
    nextTryAt: null,
    chargesEnded: false,
    overdueFrom: null,
    daysSpent: 0,
    dueDate: draft.now,
    suspendedSeconds: draft.suspendedSeconds,
    paidAt: null,
    createdAt: draft.now,
  };
}

/** Where the next period begins that is to be billed: behind the last one that was paid, or recorded as skipped. */
export const nextPeriodStart = ({ periodEnd, skippedUntil }: SubscriptionFacts) =>
  Math.max(periodEnd, skippedUntil ?? periodEnd);

/** The period that is to be billed next, and the one that `now` lies in; the numbers of an anchor's periods. */
function periodsDue({ subscription, now }: Draft): { first: number; current: number } {
  const { anchor, interval } = subscription;
  const first = periodIndex(anchor, interval, nextPeriodStart(subscription));
  return { first, current: Math.max(first, periodIndex(anchor, interval, now)) };
}

/** Periods from one up to, not including, another are recorded and never charged. */
function recordSkipped(draft: Draft, from: number, to: number): void {
  const { anchor, interval, amount } = draft.subscription;
  for (let n = from; n < to; n++) {
    const period = periodAt(anchor, interval, n);
    const record = blank(draft, { reason: 'subscription_cycle', amount, period });
    draft.put({ ...voidInvoice(record, 'canceled'), isSkipped: true });
  }
}

/**
 * Bills the period that `now` lies in. Periods between the last paid one and it, which passed unpaid or while nothing
 * ran, are recorded and never charged.
 */
export function openCycle(draft: Draft): InvoiceFacts {
  const { anchor, interval, pendingAmount } = draft.subscription;
  const { first, current } = periodsDue(draft);
  if (pendingAmount !== null) {
    draft.change({ amount: pendingAmount, pendingAmount: null });
    draft.tell('subscription.updated');
  }
  const { amount } = draft.subscription;
  draft.change({ billed: rangesTo(amount) });
  recordSkipped(draft, first, current);
  const period = periodAt(anchor, interval, current);
  return openInvoice(draft, { reason: 'subscription_cycle', amount, period });
}

/** A renewal that comes due while its merchant is suspended: its period is recorded, and the next one is billed. */
export function skipCycle(draft: Draft): void {
  const { anchor, interval } = draft.subscription;
  const { first, current } = periodsDue(draft);
  recordSkipped(draft, first, current + 1);
  draft.change({ skippedUntil: periodAt(anchor, interval, current).end });
}
