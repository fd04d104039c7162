import type { PayoutBatch, PayoutBatchStatus } from '@florin/contract/schemas';
import { post } from '../ledger/index.ts';
import { type Tx, transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import type { Job, JobOutcome, JobRun } from '../platform/jobs/index.ts';
import { getMerchant } from '../stores/index.ts';
import { type MerchantTime, merchantTime } from '../tenancy/index.ts';
import { changeBatch } from './change-batch.ts';
import type { Actor, PayoutDeps } from './deps.ts';
import { releaseBatchPostings } from './postings.ts';
import { presentBatch } from './present.ts';
import { type BatchRow, lockBatch, moveItems, returnQuota } from './queries.ts';
import { BATCH_MOVES, isReserved } from './states.ts';

/** Closes a batch that no worker has taken, and releases what it reserved. The caller holds the batch's lock. */
export async function closeUnsentBatch(
  tx: Tx,
  batch: BatchRow,
  to: Extract<PayoutBatchStatus, 'canceled' | 'rejected'>,
  time: MerchantTime,
): Promise<BatchRow> {
  if (isReserved(batch.status)) {
    // Lock order: quota before ledger, as in a submit.
    await returnQuota(tx, batch);
    await post(tx, batch.merchant_id, releaseBatchPostings(batch), time.seconds);
  }
  await moveItems(tx, batch, 'canceled');
  return await changeBatch(tx, batch, { status: to, frozen_amount: 0n }, time);
}

/** Cancels a batch. @throws Fail `invalid_request` once a worker has taken it, or when it has ended */
export async function cancelPayoutBatch(
  deps: PayoutDeps,
  actor: Actor,
  batchId: string,
): Promise<PayoutBatch> {
  const batch = await transact(deps.db, async (tx) => {
    const locked = await lockBatch(tx, actor.merchantId, batchId);
    if (BATCH_MOVES.isFinal(locked.status) || !BATCH_MOVES.allows(locked.status, 'canceled')) {
      throw new Fail('invalid_request', `A batch that is ${locked.status} cannot be canceled.`);
    }
    return await closeUnsentBatch(tx, locked, 'canceled', merchantTime(deps, actor));
  });
  return presentBatch(batch);
}

/** Rejects a batch that was not approved in time, and releases its money. */
export async function expireApproval(deps: PayoutDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const merchant = await getMerchant(deps.db, job.merchantId);
  await run.step(async (tx) => {
    const batch = await lockBatch(tx, job.merchantId, String(job.payload.batchId));
    if (batch.status !== 'pending_approval') return;
    await closeUnsentBatch(tx, batch, 'rejected', merchantTime(deps, merchant));
  });
  return 'done';
}
