import { formatTokens } from '@florin/contract/money';
import { bodyDigest, claimKey, NIL_ID, newId } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { encodeId, merchantTime } from '../tenancy/index.ts';
import type { Place } from './compare-with-chain.ts';
import {
  type BookingDeps,
  bookOperatorCoins,
  lockFloat,
  type OperatorCoins,
  withStanding,
} from './operators-coins.ts';

// What a reorganisation took stays in `reorg_loss`, as mined again it is booked back from there. Coins that the operator
// sends into the hot wallet for it are the operator's own.

export interface Filled {
  fill_id: string;
  /** True where this reference was booked before: nothing was booked now. */
  repeated: boolean;
  /** What is still missing of the currency on the network, smallest unit. */
  missing: bigint;
}

/**
 * Books coins with which the operator fills up a merchant's float on a network.
 *
 * @throws Fail where less is missing or has arrived, where the reference stands for another fill, and where the chain
 *   cannot be read
 */
export async function fillFloat(deps: BookingDeps, place: Place, fill: OperatorCoins): Promise<Filled> {
  const { merchant, network } = place;
  const { currency, amount, reference } = fill;
  return await withStanding(deps, place, currency, async (tx, standing) => {
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
    const float = await lockFloat(tx, place, currency);
    const missing = float < 0n ? -float : 0n;
    const answer = { fill_id: encodeId('fill', key.resourceId), repeated: !key.first };
    if (!key.first) return { ...answer, missing };
    if (amount > missing) {
      const message = `On ${network} ${formatTokens(missing)} ${currency} are missing: no more can be filled up.`;
      throw new Fail('invalid_request', { message, param: 'amount' });
    }
    const cause = { type: 'fill', id: key.resourceId } as const;
    await bookOperatorCoins(tx, place, { ...fill, cause }, { standing, float, nowSeconds });
    return { ...answer, missing: missing - amount };
  });
}
