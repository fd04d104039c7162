import { post } from '../ledger/index.ts';
import { moveRefundable } from '../payments/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { crashPoint } from '../platform/jobs/index.ts';
import type { Merchant, VoteCount } from '../stores/index.ts';
import { type MerchantTime, merchantTime } from '../tenancy/index.ts';
import {
  checkRecipient,
  followLost,
  type LostDecision,
  type listDecided,
  requestTransfers,
  voteOnLost,
} from '../transfers/index.ts';
import type { RefundDeps } from './deps.ts';
import { recordRefund, sourceOf } from './end-refund.ts';
import { OWNER_TYPE } from './jobs.ts';
import { givenBackPostings, unpaidPostings } from './postings.ts';
import { giveQuotaBack, type LockedRefund, lockRefund, type RefundRow, updateRefund } from './queries.ts';
import { placeOf, takenBackMove } from './states.ts';

// A reorganisation deeper than finality took the transaction of a refund that succeeded, and its bytes are dead. Two
// people say whether the payer is paid anew or the merchant has its money back, as of a payout item.

export interface LostRefundVerdict {
  refundId: string;
  approverId: string;
  decision: LostDecision;
}

/** @throws Fail `invalid_request` for a refund that is not lost, or may still be mined, and for whoever decided before */
export async function decideLostRefund(
  deps: RefundDeps,
  merchant: Merchant,
  { refundId, approverId, decision }: LostRefundVerdict,
): Promise<{ refund: RefundRow } & VoteCount> {
  const { merchantId } = merchant;
  const time = merchantTime(deps, merchant);
  return await transact(deps.db, async (tx) => {
    const locked = await lockRefund(tx, merchantId, refundId);
    if (locked.refund.status !== 'succeeded' || locked.refund.lost_at === null)
      throw new Fail('invalid_request', 'The refund is not lost: there is nothing to decide.');
    const owner = { ownerType: OWNER_TYPE, ownerId: refundId };
    const vote = { action: 'refunds.lost', ...owner, approverId, decision };
    const count = await voteOnLost(tx, merchantId, vote, time.seconds);
    if (!count.isDone) return { ...count, refund: locked.refund };
    if (decision === 'repay') await repay(tx, locked.refund, time);
    const refund = decision === 'repay' ? locked.refund : await giveBack(tx, locked, time);
    crashPoint('refunds-lost.before-commit');
    return { ...count, refund };
  });
}

/** Its money and its coins are booked as gone: they go now. */
async function repay(tx: Tx, refund: RefundRow, time: MerchantTime): Promise<void> {
  const { merchant_id: merchantId, refund_id: ownerId, network, currency, amount, address } = refund;
  if (address === null) throw new Error('a refund that was paid has an address');
  const { canonical } = checkRecipient(network, address, { allowProgramOwned: true });
  const owner = { ownerType: OWNER_TYPE, ownerId, groupId: ownerId };
  const order = { ...owner, network, currency, address: canonical, amount, memo: null };
  await requestTransfers(tx, merchantId, [order], time);
}

async function giveBack(tx: Tx, { refund, view }: LockedRefund, time: MerchantTime): Promise<RefundRow> {
  const source = sourceOf(refund);
  const place = placeOf(view.payment.status, source !== null);
  await giveQuotaBack(tx, refund);
  await moveRefundable(tx, view.payment, source, takenBackMove(refund.amount, place));
  const postings = [...unpaidPostings(refund), ...givenBackPostings(refund, place, true)];
  await post(tx, refund.merchant_id, postings, time.seconds);
  const after = await updateRefund(tx, refund, {
    status: 'failed',
    failure_reason: 'transfer_failed',
    completed_at: time.seconds,
  });
  await recordRefund(tx, { before: refund, after, type: 'refund.failed' }, time);
  return after;
}

/** A refund that succeeded follows the newest transfer that paid it: lost with it, found again, or paid anew. */
export async function followLostRefund(
  tx: Tx,
  refund: RefundRow,
  transfer: Awaited<ReturnType<typeof listDecided>>[number],
  time: MerchantTime,
): Promise<void> {
  const change = followLost(refund, transfer);
  if (change === undefined) return;
  const after = await updateRefund(tx, refund, change);
  await recordRefund(tx, { before: refund, after, type: 'refund.updated' }, time);
}
