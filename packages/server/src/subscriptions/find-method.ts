import { BILLING_INTERVALS, type BillingInterval } from '@florin/contract/schemas';
import { findPaymentMethod, lockPaymentMethods, type PaymentMethodRow } from '../payment-methods/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { decodeId } from '../tenancy/index.ts';
import { countServed } from './billing-queries.ts';

const refuse = (message: string) => new Fail('invalid_request', { message, param: 'payment_method_id' });
const isShorter = (a: BillingInterval, b: BillingInterval) =>
  BILLING_INTERVALS.indexOf(a) < BILLING_INTERVALS.indexOf(b);

interface Payer {
  merchant_id: string;
  customer_id: string;
  /** The interval of the subscription that it is for. */
  interval: BillingInterval;
  /** That subscription; absent where it is new. */
  subscription_id?: string;
}

/**
 * Finds an active payment method of the customer. Its period must not be longer than the subscription's interval,
 * because a monthly cap does not limit daily charges; and its payer must have signed it for one more subscription, where the
 * network counts them.
 *
 * @throws Fail `invalid_request` with param `payment_method_id`
 */
export async function methodOf(tx: Tx, id: string | undefined, payer: Payer): Promise<string | null> {
  if (id === undefined) return null;
  const { merchant_id: merchantId, customer_id, interval } = payer;
  const methodId = decodeId('paymentMethod', id);
  const method = methodId && (await findPaymentMethod(tx, merchantId, methodId));
  if (!method || method.customer_id !== customer_id) throw refuse('The customer has no such payment method.');
  requireActive(method);
  if (isShorter(interval, method.interval))
    throw refuse(
      `The payer has set the cap of this payment method for each ${method.interval}: it cannot be charged each ${interval}.`,
    );
  if (method.subscriptions !== null) await requireRoom(tx, method, method.subscriptions, payer);
  return method.payment_method_id;
}

function requireActive({ status }: PaymentMethodRow): void {
  if (status !== 'active') throw refuse(`This payment method is ${status}: it cannot be charged now.`);
}

/** The network has a cap for each subscription, and refuses one that the payer has not signed for. */
async function requireRoom(
  tx: Tx,
  method: PaymentMethodRow,
  signed: number,
  { subscription_id: own }: Payer,
): Promise<void> {
  const { merchant_id: merchantId, payment_method_id: methodId } = method;
  // Of two at once the second waits here, and counts the first.
  const [locked] = await lockPaymentMethods(tx, merchantId, [methodId]);
  requireActive(locked ?? method);
  if ((await countServed(tx, method, own)) < signed) return;
  throw refuse(
    `The payer has signed this payment method for ${signed === 1 ? 'one subscription' : `${signed} subscriptions`}, and it serves as many. Leave payment_method_id out: the page of the subscription asks for a new signature.`,
  );
}
