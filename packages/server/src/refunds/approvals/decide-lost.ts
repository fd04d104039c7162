import { post } from '../../ledger/index.ts';
import { moveRefundable } from '../../payments/books/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import { transact } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { crashPoint } from '../../platform/jobs/index.ts';
import type { VoteCount } from '../../stores/approvers/index.ts';
import type { Merchant } from '../../stores/index.ts';
import { type MerchantTime, merchantTime } from '../../tenancy/index.ts';
import { type LostDecision, lostChange, voteOnLost } from '../../transfers/approvals/index.ts';
import { type listDecided, requestTransfers } from '../../transfers/index.ts';
import { checkRecipient } from '../../transfers/recipients/index.ts';
import type { RefundDeps } from '../deps.ts';
import { recordRefund, sourceOf } from '../end-refund.ts';
import { OWNER_TYPE } from '../jobs.ts';
import { releasePostings, unpaidPostings } from '../postings.ts';
import { type LockedRefund, lockRefund, type RefundRow, releaseQuota, updateRefund } from '../queries.ts';
import { balanceOf, lostAmounts } from '../states.ts';

// A reorganisation deeper than finality removed the transaction of a succeeded refund, and it can never be mined again. Two
// people decide whether the payer is paid anew or the merchant gets the money back, as for a payout item.

export interface LostRefundVerdict {
  refundId: string;
  approverId: string;
  decision: LostDecision;
}

/** @throws Fail `invalid_request` for a refund that is not lost or may still be mined, and for an approver who has voted */
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

/** Orders a new transfer. Money and coins are already booked as paid. */
async function repay(tx: Tx, refund: RefundRow, time: MerchantTime): Promise<void> {
  const { merchant_id: merchantId, refund_id: ownerId, network, currency, amount, address } = refund;
  if (address === null) throw new Error('a refund that was paid has an address');
  const { canonical } = checkRecipient(network, address, { allowProgramOwned: true });
  const owner = { ownerType: OWNER_TYPE, ownerId, groupId: ownerId, place: 0 };
  const order = { ...owner, network, currency, address: canonical, amount, memo: null };
  await requestTransfers(tx, merchantId, [order], time);
}

async function giveBack(tx: Tx, { refund, view }: LockedRefund, time: MerchantTime): Promise<RefundRow> {
  const source = sourceOf(refund);
  const balance = balanceOf(view.payment.status, source !== null);
  await releaseQuota(tx, refund);
  await moveRefundable(tx, view.payment, source, lostAmounts(refund.amount, balance));
  const postings = [...unpaidPostings(refund), ...releasePostings(refund, balance, true)];
  await post(tx, refund.merchant_id, postings, time.seconds);
  const after = await updateRefund(tx, refund, {
    status: 'failed',
    failure_reason: 'transfer_failed',
    completed_at: time.seconds,
  });
  await recordRefund(tx, { before: refund, after, type: 'refund.failed' }, time);
  return after;
}

/** Updates a succeeded refund after its newest transfer: lost with it, mined again, or paid anew. */
export async function followLostRefund(
  tx: Tx,
  refund: RefundRow,
  transfer: Awaited<ReturnType<typeof listDecided>>[number],
  time: MerchantTime,
): Promise<void> {
  const change = lostChange(refund, transfer);
  if (change === undefined) return;
  const after = await updateRefund(tx, refund, change);
  await recordRefund(tx, { before: refund, after, type: 'refund.updated' }, time);
}
