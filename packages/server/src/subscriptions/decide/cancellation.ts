import { type DecisionContext, Draft } from './draft.ts';
import { cancel } from './end.ts';
import type { Decision, Facts, SubscriptionFacts } from './facts.ts';
import { boundary, periodIndex } from './periods.ts';

/** The end of the period that `now` lies in: a later one than the last paid one's while a renewal is unpaid. */
export function periodEndAt(subscription: SubscriptionFacts, now: number): number {
  const { anchor, interval, periodEnd } = subscription;
  if (periodEnd > now) return periodEnd;
  return boundary(anchor, interval, periodIndex(anchor, interval, now) + 1);
}

/** Cancels now, or plans it. With money on its way it waits until that is final. */
export function decideCancel(facts: Facts, at: 'now' | number, context: DecisionContext): Decision {
  const draft = new Draft(facts, context);
  if (at === 'now' && !draft.isAnyLive) {
    cancel(draft);
    return draft.decision;
  }
  const cancelAt = at === 'now' ? context.now : at;
  if (cancelAt !== facts.subscription.cancelAt) {
    draft.change({ cancelAt });
    draft.tell('subscription.updated');
  }
  return draft.decision;
}
