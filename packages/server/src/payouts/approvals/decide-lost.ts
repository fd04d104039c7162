import type { PayoutItem } from '@florin/contract/schemas';
import { post } from '../../ledger/index.ts';
import { type Tx, transact } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { crashPoint } from '../../platform/jobs/index.ts';
import type { VoteCount } from '../../stores/approvers/index.ts';
import { type MerchantTime, merchantTime } from '../../tenancy/index.ts';
import { type LostDecision, voteOnLost } from '../../transfers/approvals/index.ts';
import { requestTransfers } from '../../transfers/index.ts';
import { changeBatch } from '../change-batch.ts';
import type { Actor, PayoutDeps } from '../deps.ts';
import { OWNER_TYPE } from '../jobs.ts';
import { orderOf } from '../pay-batch.ts';
import { giveBackPostings } from '../postings.ts';
import { presentItem } from '../present.ts';
import { type BatchRow, getItemById, type ItemRow, lockBatch } from '../queries.ts';
import { changeItem } from '../sync-lost-items.ts';

// A lost item: a reorganisation deeper than finality took the transaction of an item that succeeded, and its bytes are dead,
// so the coins are back in the wallet. Two approvers decide whether the recipient is paid again or the merchant gets the
// money back. In the books the item is paid until then, and stays paid where it is paid again.

export interface LostVerdict {
  batchId: string;
  itemId: string;
  approverId: string;
  decision: LostDecision;
}

/**
 * Counts an approver's vote on a lost item; the second vote for the same decision carries it out.
 *
 * @throws Fail `invalid_request` for an item that is not lost, or may still be mined, and for an approver who has voted
 *   before
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
