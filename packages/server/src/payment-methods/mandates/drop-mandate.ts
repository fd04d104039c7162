import type { Tx } from '../../platform/db/index.ts';
import type { MerchantTime } from '../../tenancy/index.ts';
import { dropUnsentActivation } from '../../transfers/charges/index.ts';
import { lockPaymentMethods, type PaymentMethodRow } from '../queries.ts';
import { writeRevoked } from './revoke-payment-method.ts';

/** Locks those of these methods whose mandates are not on the network yet. */
export async function lockUnactivated(
  tx: Tx,
  merchantId: string,
  methodIds: readonly string[],
): Promise<PaymentMethodRow[]> {
  const methods = await lockPaymentMethods(tx, merchantId, methodIds);
  return methods.filter(({ activated_at: at, status }) => at === null && status !== 'revoked');
}

/**
 * Gives up the mandate of a locked method that nothing is charged to any more, unless it may be on the network: we would pay for
 * bringing it there. The method is revoked, as the payer has signed for nothing else.
 */
export async function dropMandate(tx: Tx, method: PaymentMethodRow, now: MerchantTime): Promise<void> {
  const { merchant_id: merchantId, payment_method_id: methodId } = method;
  if (await dropUnsentActivation(tx, merchantId, methodId, now)) await writeRevoked(tx, method, now);
}
