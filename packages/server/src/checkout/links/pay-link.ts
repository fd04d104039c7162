import type { PaymentDeps } from '../../payments/index.ts';
import { Fail } from '../../platform/fail.ts';
import { encodeId } from '../../tenancy/index.ts';
import { createCheckoutSession } from '../create-session.ts';
import { pageToken } from '../page-token.ts';
import type { OpenedLink } from './open-link.ts';

/** Why a payer is asked again. */
export type AmountFault = 'amount_missing' | 'amount_form' | 'amount_range';

export interface LinkOrder {
  /** In the smallest unit of the link's currency. */
  amount: bigint;
  /** Random, of the form that was shown: a form that is sent twice makes one session. */
  once: string;
}

/**
 * Makes a session for whoever pays through a link.
 *
 * @returns the token of the session's page, or what is wrong with the amount
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
  // With the amount: who goes back and writes another one means another payment.
  const idempotencyKey = `${link.link_id}:${once}:${amount}`;
  try {
    const order = { caller: owner, body, idempotencyKey, maker: 'payment_link.pay' as const };
    return { token: pageToken((await createCheckoutSession(deps, order)).session) };
  } catch (error) {
    if (!(error instanceof Fail) || error.code !== 'invalid_request') throw error;
    if (error.details.param === 'amount') return { fault: 'amount_range' };
    // The link was payable when it was made: the rate, or the store's tokens, are gone since.
    throw new Fail('service_unavailable', { message: error.message, retryAfterSeconds: 60, cause: error });
  }
}
