import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/index.ts';
import { APPROVAL_WAITS_SECONDS } from '../jobs.ts';
import type { BatchRow } from '../queries.ts';
import '../tables.ts';

/**
 * Sum that a merchant has submitted without approval after a time of its clock, over all tokens. Canceled batches do not
 * count; failed items do, as in the quota.
 */
export async function sumUnapproved(tx: Tx, merchantId: string, after: number): Promise<bigint> {
  const { rows } = await sql<{ amount: string }>`
    select coalesce(sum(requested_amount), 0)::text as amount from payout_batch
    where merchant_id = ${merchantId} and submitted_at > ${after}
      and required_approvals = 0 and status <> 'canceled'`.execute(tx);
  return BigInt(rows[0]?.amount ?? 0);
}

/** Sum of what was accepted without signatures for a signer that wants some, and is not decided yet, over all merchants. */
export async function sumUnsigned(tx: Tx): Promise<bigint> {
  const { rows } = await sql<{ amount: string }>`
    select coalesce(sum(requested_amount), 0)::text as amount from payout_batch
    where required_signatures = 0 and status in ('pending_approval', 'pending', 'processing')`.execute(tx);
  return BigInt(rows[0]?.amount ?? 0);
}

/** Batches that wait for approval, those that were submitted first at the beginning. */
export async function listWaitingBatches(db: Db, merchantId: string, limit: number): Promise<BatchRow[]> {
  return await db
    .selectFrom('payout_batch')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('status', '=', 'pending_approval')
    .orderBy('submitted_at')
    .orderBy('batch_id')
    .limit(limit)
    .execute();
}

/** When a batch that waits for approval is rejected, unless it is approved. */
export const approvalEndsAt = ({ submitted_at: submittedAt }: Pick<BatchRow, 'submitted_at'>): number =>
  Number(submittedAt) + APPROVAL_WAITS_SECONDS;

/** Batches that people have signed and that are not paid yet, those that were submitted first at the beginning. */
export async function listSignedBatches(db: Db, merchantId: string, limit: number): Promise<BatchRow[]> {
  return await db
    .selectFrom('payout_batch')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('status', 'in', ['pending', 'processing'])
    .where('required_signatures', '>', 0)
    .orderBy('submitted_at')
    .orderBy('batch_id')
    .limit(limit)
    .execute();
}

/** Number of batches that wait for approval, over all merchants. */
export async function countPendingApproval(db: Db): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) as count from payout_batch where status = 'pending_approval'`.execute(db);
  return Number(rows[0]?.count ?? 0);
}
