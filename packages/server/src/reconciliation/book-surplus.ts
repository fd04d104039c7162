import { isCauseBooked } from '../ledger/balances/index.ts';
import { bodyDigest, claimKey } from '../platform/db/guards/index.ts';
import { NIL_ID, newId } from '../platform/db/ids/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { crashPoint } from '../platform/jobs/index.ts';
import { type VoteCount, votes } from '../stores/approvers/index.ts';
import { encodeId, type MerchantTime, merchantTime } from '../tenancy/index.ts';
import type { ChainComparison, MerchantNetwork } from './compare-with-chain.ts';
import {
  assertArrived,
  type BookingDeps,
  bookOperatorCoins,
  lockFloat,
  type OperatorCoins,
  withChainComparison,
} from './operators-coins.ts';

// Anybody can send coins to the hot wallet. They belong to no merchant's account. Once two approvers confirm that they came
// from a stranger, they are booked to the operator, who owes them to their owner.

const ACTION = 'networks.surplus';

export interface SurplusVote extends OperatorCoins {
  approverId: string;
}

export interface SurplusResult extends VoteCount {
  surplus_id: string;
  /** True if this reference was booked before; nothing was decided or booked now. */
  repeated: boolean;
}

/**
 * Records an approver's vote to book coins that the hot wallet holds beyond the books. The second equal vote books them.
 *
 * @throws Fail if fewer coins have arrived (param `amount`), the reference belongs to another surplus, the approver has
 *   voted before, or the chain cannot be read
 */
export async function bookSurplus(
  deps: BookingDeps,
  target: MerchantNetwork,
  vote: SurplusVote,
): Promise<SurplusResult> {
  const time = merchantTime(deps, target.merchant);
  const booked = await withChainComparison(deps, target, vote.currency, (tx, comparison) =>
    voteAndBook(tx, target, vote, { comparison, time }),
  );
  crashPoint('surplus.after-commit');
  return booked;
}

async function voteAndBook(
  tx: Tx,
  target: MerchantNetwork,
  vote: SurplusVote,
  { comparison, time }: { comparison: ChainComparison; time: MerchantTime },
): Promise<SurplusResult> {
  const { merchant, network } = target;
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
  assertArrived(target, vote, comparison);
  const subject = `${network} ${currency} ${amount} ${reference}`;
  // Locks the merchant's votes, so that a concurrent booking sees the float of the first.
  const count = await votes.castVote(
    tx,
    merchantId,
    { action: ACTION, subject, approverId, decision: 'book' },
    time.seconds,
  );
  crashPoint('surplus.voted');
  if (count.isDone) {
    const float = await lockFloat(tx, target, currency);
    const context = { comparison, float, nowSeconds: time.seconds };
    await bookOperatorCoins(tx, target, { ...vote, cause }, context);
  }
  crashPoint('surplus.before-commit');
  return { ...answer, ...count };
}
