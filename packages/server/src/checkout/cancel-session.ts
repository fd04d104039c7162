import { cancelPayment, type PaymentDeps } from '../payments/index.ts';
import type { PaymentView } from '../payments/reads/index.ts';
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
  return await cancelPayment(deps, caller, paymentId, ({ invoice_id: invoiceId, status }) => {
    if (invoiceId !== null)
      throw new Fail('invalid_request', 'The session of an invoice ends with it and cannot be canceled.');
    if (status !== 'pending')
      throw new Fail('invalid_request', `A session that is ${sessionStatus(status)} cannot be canceled.`);
  });
}
