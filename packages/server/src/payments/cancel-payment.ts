import { transact } from '../platform/db/index.ts';
import { changePayment } from './change-payment.ts';
import { type MerchantRef, type PaymentDeps, paymentContext } from './deps.ts';
import { lockPayment, type PaymentRow, type PaymentView } from './reads/queries.ts';

/**
 * Cancels a pending payment.
 *
 * @param check called under the lock; throws if the payment must not be canceled
 * @throws Fail `resource_not_found` if there is no such payment
 */
export async function cancelPayment(
  deps: PaymentDeps,
  merchant: MerchantRef,
  paymentId: string,
  check: (payment: PaymentRow) => void,
): Promise<PaymentView> {
  const context = await paymentContext(deps, merchant);
  return await transact(deps.db, async (tx) => {
    const view = await lockPayment(tx, merchant.merchantId, paymentId);
    check(view.payment);
    const change = { status: 'cancelled', canceled_at: context.time.seconds } as const;
    return await changePayment(tx, view, change, context);
  });
}
