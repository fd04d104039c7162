import { dropUnserved } from '../payment-methods/mandates/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { listServed } from './billing-queries.ts';
import type { BillingContext } from './deps.ts';
import type { SubscriptionRow } from './queries.ts';
import { isFinal } from './states.ts';

/** A subscription before and after a change. */
interface Changed {
  before: SubscriptionRow;
  after: SubscriptionRow;
  context: BillingContext;
}

/** The method that a change leaves without this subscription. */
function leftMethod({ before, after }: Changed): string[] {
  const { payment_method_id: methodId, status } = before;
  if (methodId === null || isFinal(status)) return [];
  return isFinal(after.status) || after.payment_method_id !== methodId ? [methodId] : [];
}

/**
 * Gives up mandates on their way to the network whose last subscription has ended or has taken another wallet. Call it when the
 * changes are written.
 */
export async function dropMandates(tx: Tx, changes: readonly Changed[]): Promise<void> {
  const left = [...new Set(changes.flatMap(leftMethod))];
  const last = changes.at(-1);
  if (left.length === 0 || last === undefined) return;
  const { merchant_id: merchantId } = last.after;
  const of = { merchantId, methodIds: left, now: last.context.time };
  await dropUnserved(tx, of, (methodIds) => listServed(tx, merchantId, methodIds));
}
