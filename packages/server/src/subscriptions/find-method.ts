import { findPaymentMethod } from '../payment-methods/index.ts';
import type { Tx } from '../platform/db.ts';
import { Fail } from '../platform/fail.ts';
import { decodeId } from '../platform/ids.ts';

const refuse = (message: string) => new Fail('invalid_request', { message, param: 'payment_method_id' });

/** An active one of the customer. @throws Fail `invalid_request` with param `payment_method_id` */
export async function methodOf(
  tx: Tx,
  merchantId: string,
  id: string | undefined,
  customerId: string,
): Promise<string | null> {
  if (id === undefined) return null;
  const methodId = decodeId('paymentMethod', id);
  const method = methodId && (await findPaymentMethod(tx, merchantId, methodId));
  if (!method || method.customer_id !== customerId) throw refuse('The customer has no such payment method.');
  if (method.status !== 'active')
    throw refuse(`This payment method is ${method.status}: it cannot be charged now.`);
  return method.payment_method_id;
}
