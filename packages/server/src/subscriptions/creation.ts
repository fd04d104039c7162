import type { BillingInterval } from '@florin/contract/schemas';
import { Draft, type Occasion } from './draft.ts';
import type { Decision, SubscriptionFacts } from './facts.ts';
import { levelsTo } from './levels.ts';
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
  /** Ahead, by one interval at most; null: now, or the end of the trial. */
  anchor: number | null;
  cancelAt: number | null;
}

/** A subscription and its first invoice; a trial has none until it ends, and needs a mandate. */
export function decideCreation(creation: Creation, occasion: Occasion): Decision {
  const { now } = occasion;
  const draft = new Draft({ subscription: fresh(creation, now), invoices: [] }, occasion);
  draft.tell('subscription.created');
  if (creation.trialDays > 0) {
    if (creation.methodId !== null) startTrial(draft);
  } else openFirst(draft);
  return draft.decision;
}

export function startTrial(draft: Draft): void {
  draft.move('trialing');
  draft.tell('subscription.trialing');
}

function fresh({ trialDays, anchor, ...given }: Creation, now: number): SubscriptionFacts {
  const trialEnd = trialDays > 0 ? now + trialDays * DAY_SECONDS : null;
  return {
    ...given,
    status: 'incomplete',
    billed: levelsTo(0n),
    pendingAmount: null,
    anchor: anchor ?? trialEnd ?? now,
    trialEnd,
    periodStart: trialEnd === null ? null : now,
    periodEnd: trialEnd,
    canceledAt: null,
    credit: 0n,
    latestInvoiceId: null,
    createdAt: now,
  };
}

/** For the first period, or for the stub up to an anchor that is ahead. */
function openFirst(draft: Draft): void {
  const { now } = draft;
  const { amount: sum, anchor, interval } = draft.subscription;
  const isStub = anchor > now;
  draft.change({ billed: levelsTo(sum) });
  openInvoice(draft, {
    reason: 'subscription_create',
    amount: isStub ? stubAmount(sum, now, { anchor, interval }) : sum,
    period: { start: now, end: isStub ? anchor : boundary(anchor, interval, 1) },
  });
}
