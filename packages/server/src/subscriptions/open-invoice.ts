import type { BillingReason } from '@florin/contract/schemas';
import { type InvoiceFacts, voidInvoice } from '../invoices/index.ts';
import type { Draft } from './draft.ts';
import { FIRST_PAYMENT_SECONDS } from './dunning.ts';
import { levelsTo } from './levels.ts';
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
    paidAt: null,
    createdAt: draft.now,
  };
}

/**
 * Bills the period that `now` lies in. Periods between the last paid one and it, which passed unpaid or while nothing
 * ran, are recorded and never charged.
 */
export function openCycle(draft: Draft): InvoiceFacts {
  const { subscription, now } = draft;
  const { anchor, interval, pendingAmount } = subscription;
  const first = periodIndex(anchor, interval, subscription.periodEnd ?? anchor);
  const current = Math.max(first, periodIndex(anchor, interval, now));
  if (pendingAmount !== null) {
    draft.change({ amount: pendingAmount, pendingAmount: null });
    draft.tell('subscription.updated');
  }
  const { amount } = draft.subscription;
  draft.change({ billed: levelsTo(amount) });
  for (let n = first; n < current; n++) {
    const record = blank(draft, {
      reason: 'subscription_cycle',
      amount,
      period: periodAt(anchor, interval, n),
    });
    draft.put({ ...voidInvoice(record, 'canceled'), isSkipped: true });
  }
  const period = periodAt(anchor, interval, current);
  return openInvoice(draft, { reason: 'subscription_cycle', amount, period });
}
