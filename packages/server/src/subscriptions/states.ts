import type { SubscriptionStatus } from '@florin/contract/schemas';
import { Moves } from '../platform/db/guards/index.ts';

// A subscription: incomplete → trialing | active | incomplete_expired | canceled; trialing → active | past_due |
// canceled; active ⇄ past_due; active → canceled; past_due → canceled. `canceled` and `incomplete_expired` are final.
// Invariant: one invoice for each (subscription, period start), none missing but those of skipped periods, which are
// recorded; at most one cycle invoice is open; periods are counted from the anchor and move when they are paid.
// Every change locks the subscription, then its open invoices, then their payments, and writes all of them together
// with its events, in their order. After a crash between two changes, the subscription's job, which is due at the next
// deadline, continues from the last committed one.

/** All allowed moves. */
export const SUBSCRIPTION_MOVES = new Moves<SubscriptionStatus>('a subscription', {
  incomplete: ['trialing', 'active', 'incomplete_expired', 'canceled'],
  trialing: ['active', 'past_due', 'canceled'],
  active: ['past_due', 'canceled'],
  past_due: ['active', 'canceled'],
  canceled: [],
  incomplete_expired: [],
});

export const isFinal = (status: SubscriptionStatus) => SUBSCRIPTION_MOVES.isFinal(status);

/** Whether its periods continue: it has been paid once, or is in its trial. */
export const isRunning = (status: SubscriptionStatus) =>
  status === 'trialing' || status === 'active' || status === 'past_due';
