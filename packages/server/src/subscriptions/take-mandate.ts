import { type GivenMandate, saveMandate } from '../payment-methods/mandates/index.ts';
import { transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import type { Merchant } from '../stores/index.ts';
import { decideMandate } from './decide/mandate.ts';
import { billingContext, decisionContextOf, type SubscriptionDeps } from './deps.ts';
import type { SubscriptionRow } from './queries.ts';
import { isFinal } from './states.ts';
import { lockBilling, writeDecision } from './write-decisions.ts';

/** A mandate read from the chain. */
export type ShownOnChain = Pick<GivenMandate, 'network' | 'mandate' | 'reading'>;

/**
 * Stores the mandate that the payer of a subscription has given, and charges the open invoices to it at once. A
 * repeated call changes nothing.
 *
 * @throws Fail `invalid_request` if the subscription has ended
 */
export async function takeMandate(
  deps: SubscriptionDeps,
  merchant: Merchant,
  subscriptionId: string,
  shown: ShownOnChain,
): Promise<SubscriptionRow> {
  const context = await billingContext(deps, merchant);
  return await transact(deps.db, async (tx) => {
    const billing = await lockBilling(tx, merchant.merchantId, subscriptionId);
    const { status, store_id: storeId, customer_id: customerId, payment_method_id } = billing.subscription;
    if (isFinal(status))
      throw new Fail('invalid_request', `A subscription that is ${status} takes no mandate.`);
    const given = { merchantId: merchant.merchantId, storeId, customerId, ...shown };
    const method = await saveMandate(tx, given, context.time);
    if (method.payment_method_id === payment_method_id) return billing.subscription;
    const decision = decideMandate(billing.facts, method.payment_method_id, decisionContextOf(context));
    return (await writeDecision(tx, { before: billing, decision, context })).subscription;
  });
}
