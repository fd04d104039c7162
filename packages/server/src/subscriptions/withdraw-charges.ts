import { endCharges } from '../payments/charges/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { withdrawCharges } from '../transfers/charges/index.ts';
import type { Billing } from './billing.ts';
import type { BillingContext } from './deps.ts';
import type { WithdrawnCharge } from './write-decisions.ts';

/**
 * Withdraws the charges of a locked subscription that wait until their mandate is on the network: nothing of them was sent, and
 * nobody has to wait for them. The caller's decision takes them off their invoices.
 */
export async function withdrawWaiting(
  tx: Tx,
  { subscription: { merchant_id: merchantId }, facts }: Pick<Billing, 'subscription' | 'facts'>,
  context: BillingContext,
): Promise<WithdrawnCharge[]> {
  const pending = new Map(
    facts.invoices.flatMap(({ id, pendingChargeId }) =>
      pendingChargeId === null ? [] : [[pendingChargeId, id] as const],
    ),
  );
  if (pending.size === 0) return [];
  const withdrawn = await withdrawCharges(tx, merchantId, [...pending.keys()], context.time.seconds);
  const outcome = { declineCode: 'network_unavailable' };
  const ended = await endCharges(
    tx,
    merchantId,
    withdrawn.map((paymentId) => ({ paymentId, outcome, context })),
  );
  return withdrawn.flatMap((paymentId, i) => {
    const [invoiceId, charge] = [pending.get(paymentId), ended[i]];
    return invoiceId === undefined || charge === undefined
      ? []
      : [{ invoiceId, paymentId, change: charge.change }];
  });
}
