import type { PayoutItem } from '@florin/contract/schemas';
import { post } from '../ledger/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { crashPoint } from '../platform/jobs/index.ts';
import type { VoteCount } from '../stores/index.ts';
import { type MerchantTime, merchantTime } from '../tenancy/index.ts';
import { type LostDecision, requestTransfers, voteOnLost } from '../transfers/index.ts';
import { changeBatch } from './change-batch.ts';
import type { Actor, PayoutDeps } from './deps.ts';
import { changeItem } from './follow-lost.ts';
import { OWNER_TYPE, orderOf } from './jobs.ts';
import { giveBackPostings } from './postings.ts';
import { presentItem } from './present.ts';
import { type BatchRow, getItemById, type ItemRow, lockBatch } from './queries.ts';

// A reorganisation deeper than finality took the transaction of an item that succeeded, and its bytes are dead: its coins
// are back in the wallet, and nobody has them. Two people say whether the recipient is paid anew or the merchant has its
// money back. The books call it paid until then, and go on doing so where it is paid anew.

export interface LostVerdict {
  batchId: string;
  itemId: string;
  approverId: string;
  decision: LostDecision;
}

/**
 * A registered approver decides what becomes of a lost item; the second one who says the same carries it out.
 *
 * @throws Fail `invalid_request` for an item that is not lost, or may still be mined, and for whoever decided before
 */
export async function decideLost(
  deps: PayoutDeps,
  actor: Actor,
  { batchId, itemId, approverId, decision }: LostVerdict,
): Promise<{ item: PayoutItem } & VoteCount> {
  const { merchantId } = actor;
  const time = merchantTime(deps, actor);
  return await transact(deps.db, async (tx) => {
    const batch = await lockBatch(tx, merchantId, batchId);
    const item = await getItemById(tx, batch, itemId);
    if (item.status !== 'succeeded' || item.lost_at === null)
      throw new Fail('invalid_request', 'The item is not lost: there is nothing to decide.');
    const owner = { ownerType: OWNER_TYPE, ownerId: itemId };
    const vote = { action: 'payouts.lost', ...owner, approverId, decision };
    const count = await voteOnLost(tx, merchantId, vote, time.seconds);
    if (count.isDone) {
      if (decision === 'repay') await requestTransfers(tx, merchantId, [orderOf(batch, item)], time);
      else await giveBack(tx, { batch, item }, time);
      crashPoint('payouts-lost.before-commit');
    }
    return { ...count, item: presentItem(await getItemById(tx, batch, itemId)) };
  });
}

async function giveBack(
  tx: Tx,
  { batch, item }: { batch: BatchRow; item: ItemRow },
  time: MerchantTime,
): Promise<void> {
  await post(tx, batch.merchant_id, giveBackPostings(batch, item), time.seconds);
  const failed = {
    status: 'failed',
    failure_code: 'transfer_failed',
    failure_message: 'A reorganisation of the network took the transaction. The money was given back.',
    completed_at: time.seconds,
  } as const;
  await changeItem(tx, { batch, item }, failed, time);
  const change = {
    success_count: batch.success_count - 1,
    failed_count: batch.failed_count + 1,
    charged_service_fee_amount: batch.charged_service_fee_amount - item.service_fee_amount,
  };
  await changeBatch(tx, batch, change, time);
}
