import { isCauseBooked } from '../ledger/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { bodyDigest, claimKey, NIL_ID, newId } from '../platform/db/index.ts';
import { crashPoint } from '../platform/jobs/index.ts';
import { castVote, type VoteCount } from '../stores/index.ts';
import { encodeId, type MerchantTime, merchantTime } from '../tenancy/index.ts';
import type { Place, Standing } from './compare-with-chain.ts';
import {
  assertArrived,
  type BookingDeps,
  bookOperatorCoins,
  lockFloat,
  type OperatorCoins,
  withStanding,
} from './operators-coins.ts';

// Anybody can send coins to the hot wallet. They are nobody's in the books: no merchant account grows by them. Two
// registered people say that they are a stranger's, and then they are the operator's, who owes them to whoever asks.

const ACTION = 'networks.surplus';

export interface SurplusVote extends OperatorCoins {
  approverId: string;
}

export interface BookedSurplus extends VoteCount {
  surplus_id: string;
  /** True where this reference was booked before: nothing was decided or booked now. */
  repeated: boolean;
}

/**
 * A registered person decides that coins beyond what the books expect in the hot wallet are booked; the second who says
 * the same carries it out.
 *
 * @throws Fail where fewer coins have arrived (param `amount`), where the reference stands for another surplus, where
 *   that person has decided before, and where the chain cannot be read
 */
export async function bookSurplus(
  deps: BookingDeps,
  place: Place,
  vote: SurplusVote,
): Promise<BookedSurplus> {
  const time = merchantTime(deps, place.merchant);
  const booked = await withStanding(deps, place, vote.currency, (tx, standing) =>
    decide(tx, place, vote, { standing, time }),
  );
  crashPoint('surplus.after-commit');
  return booked;
}

async function decide(
  tx: Tx,
  place: Place,
  vote: SurplusVote,
  { standing, time }: { standing: Standing; time: MerchantTime },
): Promise<BookedSurplus> {
  const { merchant, network } = place;
  const { merchantId } = merchant;
  const { currency, amount, reference, approverId } = vote;
  const { resourceId } = await claimKey(tx, {
    merchantId,
    operation: ACTION,
    key: reference,
    digest: bodyDigest({ network, currency, amount: String(amount) }),
    storeId: NIL_ID,
    resourceId: newId(),
    nowSeconds: time.seconds,
    param: 'reference',
  });
  const answer = { surplus_id: encodeId('surplus', resourceId), repeated: false };
  const cause = { type: 'surplus', id: resourceId } as const;
  if (await isCauseBooked(tx, merchantId, cause.id))
    return { ...answer, repeated: true, agreed: 2, required: 2, isDone: true };
  assertArrived(place, vote, standing);
  const subject = `${network} ${currency} ${amount} ${reference}`;
  // From here on the merchant's votes are locked: of two bookings at once the second sees the float of the first.
  const count = await castVote(
    tx,
    merchantId,
    { action: ACTION, subject, approverId, decision: 'book' },
    time.seconds,
  );
  crashPoint('surplus.voted');
  if (count.isDone) {
    const float = await lockFloat(tx, place, currency);
    const context = { standing, float, nowSeconds: time.seconds };
    await bookOperatorCoins(tx, place, { ...vote, cause }, context);
  }
  crashPoint('surplus.before-commit');
  return { ...answer, ...count };
}
