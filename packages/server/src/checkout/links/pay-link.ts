import type { AmountFault } from '@florin/pages';
import type { PaymentDeps } from '../../payments/index.ts';
import { Fail } from '../../platform/fail.ts';
import { encodeId } from '../../tenancy/index.ts';
import { createCheckoutSession } from '../create-session.ts';
import { pageToken } from '../page-token.ts';
import type { OpenedLink } from './open-link.ts';

export interface LinkOrder {
  /** In the smallest unit of the link's currency. */
  amount: bigint;
  /** Random nonce of the form: a form that is sent twice creates one session. */
  once: string;
}

/**
 * Creates a session for a payer of a link.
 *
 * @returns the token of the session's page, or the fault of the amount
 * @throws Fail `service_unavailable` while there is no exchange rate
 */
export async function payLink(
  deps: PaymentDeps,
  { link, owner }: OpenedLink,
  { amount, once }: LinkOrder,
): Promise<{ token: string } | { fault: AmountFault }> {
  if (amount < 1n) return { fault: 'amount_missing' };
  if (amount > BigInt(Number.MAX_SAFE_INTEGER)) return { fault: 'amount_range' };
  const body = {
    amount: Number(amount),
    currency: link.currency,
    ...(link.description === null ? {} : { description: link.description }),
    metadata: { payment_link: encodeId('paymentLink', link.link_id) },
  };
  // Includes the amount: a payer who goes back and changes it wants another payment.
  const idempotencyKey = `${link.link_id}:${once}:${amount}`;
  try {
    const order = { caller: owner, body, idempotencyKey, operation: 'payment_link.pay' as const };
    return { token: pageToken((await createCheckoutSession(deps, order)).session) };
  } catch (error) {
    if (!(error instanceof Fail) || error.code !== 'invalid_request') throw error;
    if (error.details.param === 'amount') return { fault: 'amount_range' };
    // The link was payable when it was created; since then a rate or a token setting has gone.
    throw new Fail('service_unavailable', { message: error.message, retryAfterSeconds: 60, cause: error });
  }
}
