import type { SubscriptionCancelInput } from '@florin/contract/schemas';
import { transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { decideCancel, periodEndAt } from './decide/cancellation.ts';
import type { SubscriptionFacts } from './decide/facts.ts';
import { billingContext, decisionContextOf, type StoreCaller, type SubscriptionDeps } from './deps.ts';
import { getSubscription, type SubscriptionRow } from './queries.ts';
import { isFinal } from './states.ts';
import { withdrawWaiting } from './withdraw-charges.ts';
import { lockBilling, writeDecision } from './write-decisions.ts';

/** @throws Fail `resource_not_found`, `forbidden`, `invalid_request` */
export async function cancelSubscription(
  deps: SubscriptionDeps,
  caller: StoreCaller,
  { id, body }: { id: string; body: SubscriptionCancelInput },
): Promise<SubscriptionRow> {
  const { merchant_id, subscription_id } = await getSubscription(deps.db, caller, id);
  const context = await billingContext(deps, caller);
  return await transact(deps.db, async (tx) => {
    const billing = await lockBilling(tx, merchant_id, subscription_id);
    const { subscription } = billing.facts;
    if (isFinal(subscription.status))
      throw new Fail('invalid_request', `A subscription that is ${subscription.status} cannot be canceled.`);
    const at = timeOf(body, subscription, context.time.seconds);
    const withdrawn = at === 'now' ? await withdrawWaiting(tx, billing, context) : [];
    const cancel = { at, withdrawn: withdrawn.map(({ invoiceId }) => invoiceId) };
    const decision = decideCancel(billing.facts, cancel, decisionContextOf(context));
    const toWrite = { before: billing, decision, context, additions: { withdrawn } };
    return (await writeDecision(tx, toWrite)).subscription;
  });
}

/** @throws Fail `invalid_request` */
function timeOf(body: SubscriptionCancelInput, subscription: SubscriptionFacts, now: number): 'now' | number {
  if (body.cancel_at_period_end !== undefined) {
    if (subscription.status !== 'incomplete') return periodEndAt(subscription, now);
    const message =
      'A subscription that is incomplete has no period that is paid. Cancel it now, or at a time.';
    throw new Fail('invalid_request', { message, param: 'cancel_at_period_end' });
  }
  if (body.cancel_at === undefined) return 'now';
  if (body.cancel_at > now) return body.cancel_at;
  throw new Fail('invalid_request', { message: 'cancel_at must be in the future.', param: 'cancel_at' });
}
