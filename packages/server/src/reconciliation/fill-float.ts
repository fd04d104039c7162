import { formatTokens } from '@florin/contract/money';
import { bodyDigest, claimKey } from '../platform/db/guards/index.ts';
import { NIL_ID, newId } from '../platform/db/ids/index.ts';
import { Fail } from '../platform/fail.ts';
import { encodeId, merchantTime } from '../tenancy/index.ts';
import type { MerchantNetwork } from './compare-with-chain.ts';
import {
  type BookingDeps,
  bookOperatorCoins,
  lockFloat,
  type OperatorCoins,
  withChainComparison,
} from './operators-coins.ts';

// Coins lost to a reorganisation stay in `reorg_loss`, from which they are booked back if they are mined again. Coins that
// the operator sends to the hot wallet as a replacement are the operator's own.

export interface FillResult {
  fill_id: string;
  /** True if this reference was booked before; nothing was booked now. */
  repeated: boolean;
  /** Still missing of the currency on the network, in the smallest unit. */
  missing: bigint;
}

/**
 * Books coins with which the operator fills up a merchant's negative float on a network.
 *
 * @throws Fail if less is missing or has arrived, the reference belongs to another fill, or the chain cannot be read
 */
export async function fillFloat(
  deps: BookingDeps,
  target: MerchantNetwork,
  fill: OperatorCoins,
): Promise<FillResult> {
  const { merchant, network } = target;
  const { currency, amount, reference } = fill;
  return await withChainComparison(deps, target, currency, async (tx, comparison) => {
    const nowSeconds = merchantTime(deps, merchant).seconds;
    const key = await claimKey(tx, {
      merchantId: merchant.merchantId,
      operation: 'networks.fill',
      key: reference,
      digest: bodyDigest({ network, currency, amount: String(amount) }),
      storeId: NIL_ID,
      resourceId: newId(),
      nowSeconds,
      param: 'reference',
    });
    const float = await lockFloat(tx, target, currency);
    const missing = float < 0n ? -float : 0n;
    const answer = { fill_id: encodeId('fill', key.resourceId), repeated: !key.first };
    if (!key.first) return { ...answer, missing };
    if (amount > missing) {
      const message = `On ${network} ${formatTokens(missing)} ${currency} are missing: no more can be filled up.`;
      throw new Fail('invalid_request', { message, param: 'amount' });
    }
    const cause = { type: 'fill', id: key.resourceId } as const;
    await bookOperatorCoins(tx, target, { ...fill, cause }, { comparison, float, nowSeconds });
    return { ...answer, missing: missing - amount };
  });
}
