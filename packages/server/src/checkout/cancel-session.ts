import {
  changePayment,
  lockPayment,
  type PaymentDeps,
  type PaymentView,
  paymentContext,
} from '../payments/index.ts';
import { transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import type { Caller } from '../platform/http/index.ts';
import { sessionStatus } from './session-status.ts';

/**
 * Cancels an open session.
 *
 * @throws Fail `invalid_request` if money was seen, the session has ended, or it belongs to an invoice
 */
export async function cancelCheckoutSession(
  deps: PaymentDeps,
  caller: Caller,
  paymentId: string,
): Promise<PaymentView> {
  const context = await paymentContext(deps, caller);
  return await transact(deps.db, async (tx) => {
    const view = await lockPayment(tx, caller.merchantId, paymentId);
    if (view.payment.invoice_id !== null)
      throw new Fail('invalid_request', 'The session of an invoice ends with it and cannot be canceled.');
    if (view.payment.status !== 'pending') {
      const status = sessionStatus(view.payment.status);
      throw new Fail('invalid_request', `A session that is ${status} cannot be canceled.`);
    }
    const change = { status: 'cancelled', canceled_at: context.time.seconds } as const;
    return await changePayment(tx, view, change, context);
  });
}
