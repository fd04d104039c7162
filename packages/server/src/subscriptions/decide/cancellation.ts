import { chargesWithdrawn } from './charge.ts';
import { BillingDraft, type DecisionContext } from './draft.ts';
import { cancel } from './end.ts';
import type { Decision, Facts, SubscriptionFacts } from './facts.ts';
import { boundary, periodIndex } from './periods.ts';

/**
 * The end of the period that contains `now`. While a renewal is unpaid, it is later than the last paid period's end.
 */
export function periodEndAt(subscription: SubscriptionFacts, now: number): number {
  const { anchor, interval, periodEnd } = subscription;
  if (periodEnd > now) return periodEnd;
  return boundary(anchor, interval, periodIndex(anchor, interval, now) + 1);
}

/**
 * Cancels now, or plans the cancel. While money is pending, the cancel waits until it is final.
 *
 * @param withdrawn invoices whose charges were withdrawn unsent
 */
export function decideCancel(
  facts: Facts,
  { at, withdrawn = [] }: { at: 'now' | number; withdrawn?: readonly string[] },
  context: DecisionContext,
): Decision {
  const draft = new BillingDraft(facts, context);
  chargesWithdrawn(draft, withdrawn);
  if (at === 'now' && !draft.isAnyPaymentPending) {
    cancel(draft);
    return draft.decision;
  }
  const cancelAt = at === 'now' ? context.now : at;
  if (cancelAt !== facts.subscription.cancelAt) {
    draft.change({ cancelAt });
    draft.emit('subscription.updated');
  }
  return draft.decision;
}
