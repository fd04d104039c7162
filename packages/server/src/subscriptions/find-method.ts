import { BILLING_INTERVALS, type BillingInterval } from '@florin/contract/schemas';
import { findPaymentMethod } from '../payment-methods/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { decodeId } from '../tenancy/index.ts';

const refuse = (message: string) => new Fail('invalid_request', { message, param: 'payment_method_id' });
const isShorter = (a: BillingInterval, b: BillingInterval) =>
  BILLING_INTERVALS.indexOf(a) < BILLING_INTERVALS.indexOf(b);

interface Payer {
  merchant_id: string;
  customer_id: string;
  /** The interval of the subscription that it is for. */
  interval: BillingInterval;
}

/**
 * Finds an active payment method of the customer. Its period must not be longer than the subscription's interval,
 * because a monthly cap does not limit daily charges.
 *
 * @throws Fail `invalid_request` with param `payment_method_id`
 */
export async function methodOf(
  tx: Tx,
  id: string | undefined,
  { merchant_id: merchantId, customer_id, interval }: Payer,
): Promise<string | null> {
  if (id === undefined) return null;
  const methodId = decodeId('paymentMethod', id);
  const method = methodId && (await findPaymentMethod(tx, merchantId, methodId));
  if (!method || method.customer_id !== customer_id) throw refuse('The customer has no such payment method.');
  if (method.status !== 'active')
    throw refuse(`This payment method is ${method.status}: it cannot be charged now.`);
  if (isShorter(interval, method.interval))
    throw refuse(
      `The payer has set the cap of this payment method for each ${method.interval}: it cannot be charged each ${interval}.`,
    );
  return method.payment_method_id;
}
