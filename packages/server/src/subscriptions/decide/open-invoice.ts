import type { BillingReason } from '@florin/contract/schemas';
import { type InvoiceFacts, voidInvoice } from '../../invoices/decide/index.ts';
import { rangesTo } from './billed-ranges.ts';
import type { BillingDraft } from './draft.ts';
import { FIRST_PAYMENT_SECONDS } from './dunning.ts';
import type { SubscriptionFacts } from './facts.ts';
import { invoicePaid } from './pay.ts';
import { type Period, periodAt, periodIndex } from './periods.ts';
import { takeCredit } from './proration.ts';

interface NewInvoice {
  reason: BillingReason;
  /** Before the deduction of earlier credits. */
  amount: bigint;
  period: Period;
}

/**
 * Opens an invoice, for a mandate or with a page. If nothing is due, the same change marks it as paid.
 *
 * The first invoice has a page from the start, unless it is charged at once: a payer without a mandate gives it there.
 */
export function openInvoice(
  draft: BillingDraft,
  { reason, amount: gross, period }: NewInvoice,
): InvoiceFacts {
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
  draft.emit('invoice.created', invoice.id);
  if (amount === 0n) invoicePaid(draft, invoice.id);
  return draft.invoice(invoice.id);
}

function blank(draft: BillingDraft, { reason, amount, period }: NewInvoice): InvoiceFacts {
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
    pendingChargeId: null,
    triedAt: null,
    capUse: null,
    tries: 0,
    nextTryAt: null,
    chargesEnded: false,
    overdueFrom: null,
    dunningDaysPassed: 0,
    dueDate: draft.now,
    suspendedSeconds: draft.suspendedSeconds,
    paidAt: null,
    createdAt: draft.now,
  };
}

/** The start of the next period to bill: after the last paid or skipped one. */
export const nextPeriodStart = ({ periodEnd, skippedUntil }: SubscriptionFacts) =>
  Math.max(periodEnd, skippedUntil ?? periodEnd);

/** The next period to bill and the period that contains `now`, as numbers of the anchor's periods. */
function periodsDue({ subscription, now }: BillingDraft): { first: number; current: number } {
  const { anchor, interval } = subscription;
  const first = periodIndex(anchor, interval, nextPeriodStart(subscription));
  return { first, current: Math.max(first, periodIndex(anchor, interval, now)) };
}

/** Records the periods from `from` up to, not including, `to` as skipped: they are never charged. */
function recordSkipped(draft: BillingDraft, from: number, to: number): void {
  const { anchor, interval, amount } = draft.subscription;
  for (let n = from; n < to; n++) {
    const period = periodAt(anchor, interval, n);
    const record = blank(draft, { reason: 'subscription_cycle', amount, period });
    draft.put({ ...voidInvoice(record, 'canceled'), isSkipped: true });
  }
}

/**
 * Bills the period that contains `now`. Periods between the last paid one and this one passed unpaid, or while the
 * service was down; they are recorded as skipped and never charged.
 */
export function openCycle(draft: BillingDraft): InvoiceFacts {
  const { anchor, interval, pendingAmount } = draft.subscription;
  const { first, current } = periodsDue(draft);
  if (pendingAmount !== null) {
    draft.change({ amount: pendingAmount, pendingAmount: null });
    draft.emit('subscription.updated');
  }
  const { amount } = draft.subscription;
  draft.change({ billed: rangesTo(amount) });
  recordSkipped(draft, first, current);
  const period = periodAt(anchor, interval, current);
  return openInvoice(draft, { reason: 'subscription_cycle', amount, period });
}

/** Skips a renewal that is due while the merchant is suspended: its period is recorded, and the next one is billed. */
export function skipCycle(draft: BillingDraft): void {
  const { anchor, interval } = draft.subscription;
  const { first, current } = periodsDue(draft);
  recordSkipped(draft, first, current + 1);
  draft.change({ skippedUntil: periodAt(anchor, interval, current).end });
}
