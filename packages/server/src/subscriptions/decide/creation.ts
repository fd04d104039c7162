import type { BillingInterval } from '@florin/contract/schemas';
import { rangesTo } from './billed-ranges.ts';
import { BillingDraft, type DecisionContext } from './draft.ts';
import type { Decision, SubscriptionFacts } from './facts.ts';
import { openInvoice } from './open-invoice.ts';
import { boundary } from './periods.ts';
import { stubAmount } from './proration.ts';

const DAY_SECONDS = 86_400;

export interface Creation {
  amount: bigint;
  interval: BillingInterval;
  methodId: string | null;
  /** 0: none. */
  trialDays: number;
  /** In the future, by one interval at most; null: now, or the end of the trial. */
  anchor: number | null;
  cancelAt: number | null;
}

/** Creates a subscription with its first invoice. A trial has no invoice until it ends, and needs a mandate. */
export function decideCreation(creation: Creation, context: DecisionContext): Decision {
  const { now } = context;
  const draft = new BillingDraft({ subscription: fresh(creation, now), invoices: [] }, context);
  draft.emit('subscription.created');
  if (creation.trialDays > 0) {
    if (creation.methodId !== null) startTrial(draft);
  } else openFirst(draft);
  return draft.decision;
}

export function startTrial(draft: BillingDraft): void {
  draft.move('trialing');
  draft.emit('subscription.trialing');
}

function fresh({ trialDays, anchor: given, ...rest }: Creation, now: number): SubscriptionFacts {
  const trialEnd = trialDays > 0 ? now + trialDays * DAY_SECONDS : null;
  const anchor = given ?? trialEnd ?? now;
  return {
    ...rest,
    status: 'incomplete',
    billed: rangesTo(0n),
    pendingAmount: null,
    anchor,
    trialEnd,
    periodStart: now,
    // The trial, else the first period, or the stub up to a future anchor.
    periodEnd: anchor > now ? anchor : boundary(anchor, rest.interval, 1),
    skippedUntil: null,
    canceledAt: null,
    credit: 0n,
    latestInvoiceId: null,
    createdAt: now,
  };
}

function openFirst(draft: BillingDraft): void {
  const { now } = draft;
  const { amount: sum, anchor, interval, periodStart, periodEnd } = draft.subscription;
  draft.change({ billed: rangesTo(sum) });
  openInvoice(draft, {
    reason: 'subscription_create',
    amount: anchor > now ? stubAmount(sum, now, { anchor, interval }) : sum,
    period: { start: periodStart, end: periodEnd },
  });
}
