import type { PaymentLinkInput } from '@florin/contract/schemas';
import type { PaymentDeps } from '../../payments/index.ts';
import { bodyDigest, claimKey } from '../../platform/db/guards/index.ts';
import { newId } from '../../platform/db/ids/index.ts';
import { transact } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import type { Caller } from '../../platform/http/index.ts';
import { encodeId, merchantTime } from '../../tenancy/index.ts';
import { payableOptions } from '../payable-options.ts';
import { getLink, insertLink, type LinkRow } from './queries.ts';

const OPERATION = 'payment_link.create';
/** The smallest amount of an open link. */
const AMOUNT_MIN = 1;

/**
 * Creates an active link. Its price passes the same checks as a session's, so every new link is payable.
 *
 * @throws Fail `parameter_missing`, `invalid_request`, `conflict`
 */
export async function createPaymentLink(
  deps: PaymentDeps,
  { caller, body, idempotencyKey }: { caller: Caller; body: PaymentLinkInput; idempotencyKey: string },
): Promise<{ link: LinkRow; replayed: boolean }> {
  const { amount, open, currency, description = null } = body;
  if (amount === undefined && open === undefined) {
    const message = 'Set amount, or open: true to let the payer choose it.';
    throw new Fail('parameter_missing', { message, param: 'amount' });
  }
  if (amount !== undefined && open !== undefined) {
    throw new Fail('invalid_request', { message: 'An open link has no amount.', param: 'open' });
  }
  await payableOptions(deps, caller, { amount: amount ?? AMOUNT_MIN, currency });
  const { merchantId, storeId } = caller;
  const linkId = newId();
  const nowSeconds = merchantTime(deps, caller).seconds;
  return await transact(deps.db, async (tx) => {
    if (idempotencyKey !== '') {
      const claim = { merchantId, storeId, operation: OPERATION, key: idempotencyKey };
      const key = await claimKey(tx, { ...claim, digest: bodyDigest(body), resourceId: linkId, nowSeconds });
      if (!key.first)
        return { link: await getLink(tx, caller, encodeId('paymentLink', key.resourceId)), replayed: true };
    }
    const link = await insertLink(tx, {
      merchant_id: merchantId,
      link_id: linkId,
      store_id: storeId,
      amount: amount === undefined ? null : BigInt(amount),
      currency,
      description,
      active: true,
      created_at: nowSeconds,
    });
    return { link, replayed: false };
  });
}
