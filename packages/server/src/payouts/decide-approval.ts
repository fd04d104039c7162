import type { PayoutBatch } from '@florin/contract/schemas';
import { transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { enqueue } from '../platform/jobs/index.ts';
import { castVote } from '../stores/index.ts';
import { merchantTime } from '../tenancy/index.ts';
import { closeUnsentBatch } from './cancel-payout-batch.ts';
import { changeBatch } from './change-batch.ts';
import type { Actor, PayoutDeps } from './deps.ts';
import { boundDigest } from './items-digest.ts';
import { PROCESS_JOB } from './jobs.ts';
import { presentBatch } from './present.ts';
import { type BatchRow, lockBatch, readItems } from './queries.ts';
import { mayDecide } from './states.ts';

export interface Approval {
  batchId: string;
  approverId: string;
  decision: 'approved' | 'rejected';
}

function checkMayDecide(batch: BatchRow, approval: Approval): void {
  if (batch.status !== 'pending_approval') {
    throw new Fail(
      'invalid_request',
      `The batch is ${batch.status}; only a batch that is pending_approval is decided.`,
    );
  }
  if (!mayDecide(batch.owners, approval.approverId)) {
    throw new Fail(
      'forbidden',
      'An approver cannot decide on a batch that a key of theirs created, edited or submitted.',
    );
  }
}

/**
 * Counts the vote of a registered approver on a batch. Enough approvals make it `pending`; one rejection ends it and
 * releases the money.
 *
 * @throws Fail `forbidden` for the owner of a key that created, edited or submitted it, and for a removed approver;
 * `invalid_request` in every other state, and for an approver who has voted before
 */
export async function decideApproval(
  deps: PayoutDeps,
  actor: Actor,
  approval: Approval,
): Promise<PayoutBatch> {
  const time = merchantTime(deps, actor);
  const batch = await transact(deps.db, async (tx) => {
    const locked = await lockBatch(tx, actor.merchantId, approval.batchId);
    checkMayDecide(locked, approval);
    const { approverId, decision } = approval;
    // The vote is bound to the digest of the items.
    const digest = boundDigest(locked, await readItems(tx, locked.merchant_id, locked.batch_id));
    const subject = `${locked.batch_id} ${digest.toString('hex')}`;
    const vote = { action: 'payouts.approval', subject, approverId, decision };
    const required = locked.required_approvals;
    const { isDone } = await castVote(tx, locked.merchant_id, { ...vote, required }, time.seconds);
    if (decision === 'rejected') return await closeUnsentBatch(tx, locked, 'rejected', time);
    if (!isDone) return locked;
    const job = {
      merchantId: locked.merchant_id,
      kind: PROCESS_JOB,
      uniqueKey: locked.batch_id,
      dueAtMs: time.realMs,
    };
    await enqueue(tx, [{ ...job, followsClock: true, payload: { batchId: locked.batch_id } }]);
    return await changeBatch(tx, locked, { status: 'pending' }, time);
  });
  return presentBatch(batch);
}
