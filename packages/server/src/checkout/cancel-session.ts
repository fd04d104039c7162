import { Fail } from '../platform/fail.ts';
import type { Caller } from '../platform/http/index.ts';
import { occasionOf } from '../platform/occasion.ts';
import { transact } from '../platform/transact.ts';
import { changePayment } from './change-payment.ts';
import { type CheckoutDeps, checkoutSettings } from './deps.ts';
import { lockPayment, type PaymentView } from './queries.ts';
import { sessionStatus } from './states.ts';

/** @throws Fail `invalid_request` unless the session is open: what was seen of money is waited for */
export async function cancelCheckoutSession(
  deps: CheckoutDeps,
  caller: Caller,
  paymentId: string,
): Promise<PaymentView> {
  const settings = await checkoutSettings(deps, caller);
  return await transact(deps.db, async (tx) => {
    const view = await lockPayment(tx, caller.merchantId, paymentId);
    if (view.payment.status !== 'pending') {
      const status = sessionStatus(view.payment.status);
      throw new Fail('invalid_request', `A session that is ${status} cannot be canceled.`);
    }
    const occasion = occasionOf(deps, caller);
    const change = { status: 'cancelled', canceled_at: occasion.seconds } as const;
    return await changePayment(tx, view, change, { settings, occasion });
  });
}
