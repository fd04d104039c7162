import type { PayoutBatch } from '@florin/contract/schemas';
import { sql } from 'kysely';
import type { Tx } from '../platform/db.ts';
import { Fail } from '../platform/fail.ts';
import { enqueue } from '../platform/jobs/index.ts';
import { occasionOf } from '../platform/occasion.ts';
import { transact } from '../platform/transact.ts';
import { endUnsent } from './cancel-payout-batch.ts';
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
      'Nobody decides on a batch that a key of their own created, edited or submitted.',
    );
  }
}

/** @returns how many have approved these items */
async function record(tx: Tx, batch: BatchRow, approval: Approval, nowSeconds: number): Promise<number> {
  // An approval counts for the very items that it was given for.
  const digest = boundDigest(batch, await readItems(tx, batch.merchant_id, batch.batch_id));
  const { rows } = await sql`
    insert into payout_approval (merchant_id, batch_id, approver_id, decision, items_digest, created_at)
    values (${batch.merchant_id}, ${batch.batch_id}, ${approval.approverId}, ${approval.decision}, ${digest}, ${nowSeconds})
    on conflict (merchant_id, batch_id, approver_id) do nothing
    returning 1`.execute(tx);
  if (rows.length === 0) throw new Fail('invalid_request', 'You have decided on this batch before.');
  const { approvals } = await tx
    .selectFrom('payout_approval')
    .select((e) => e.fn.countAll<bigint>().as('approvals'))
    .where('merchant_id', '=', batch.merchant_id)
    .where('batch_id', '=', batch.batch_id)
    .where('decision', '=', 'approved')
    .where('items_digest', '=', digest)
    .executeTakeFirstOrThrow();
  return Number(approvals);
}

/**
 * A registered approver approves or rejects a batch. Enough approvals send it on; one rejection ends it and gives the
 * money back.
 *
 * @throws Fail `forbidden` for the owner of a key that created, edited or submitted it; `invalid_request` in every other state
 */
export async function decideApproval(
  deps: PayoutDeps,
  actor: Actor,
  approval: Approval,
): Promise<PayoutBatch> {
  const occasion = occasionOf(deps, actor);
  const batch = await transact(deps.db, async (tx) => {
    const locked = await lockBatch(tx, actor.merchantId, approval.batchId);
    checkMayDecide(locked, approval);
    const approvals = await record(tx, locked, approval, occasion.seconds);
    if (approval.decision === 'rejected') return await endUnsent(tx, locked, 'rejected', occasion);
    if (approvals < locked.required_approvals) return locked;
    const job = {
      merchantId: locked.merchant_id,
      kind: PROCESS_JOB,
      uniqueKey: locked.batch_id,
      dueAtMs: occasion.realMs,
    };
    await enqueue(tx, [{ ...job, followsClock: true, payload: { batchId: locked.batch_id } }]);
    return await changeBatch(tx, locked, { status: 'pending' }, occasion);
  });
  return presentBatch(batch);
}
