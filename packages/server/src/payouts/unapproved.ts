import { sql } from 'kysely';
import type { Db, Tx } from '../platform/db/index.ts';
import { APPROVAL_WINDOW_SECONDS } from '../stores/index.ts';
import './tables.ts';

/**
 * What a merchant has submitted without approval in the last 24 hours of its clock, all tokens added up. Canceled batches
 * sent nothing; items that failed count, as in the quota.
 */
export async function unapprovedPayouts(tx: Tx, merchantId: string, nowSeconds: number): Promise<bigint> {
  const { rows } = await sql<{ amount: string }>`
    select coalesce(sum(requested_amount), 0)::text as amount from payout_batch
    where merchant_id = ${merchantId} and submitted_at > ${nowSeconds - APPROVAL_WINDOW_SECONDS}
      and required_approvals = 0 and status <> 'canceled'`.execute(tx);
  return BigInt(rows[0]?.amount ?? 0);
}

/** How many batches wait for approval, over all merchants. */
export async function countPendingApproval(db: Db): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) as count from payout_batch where status = 'pending_approval'`.execute(db);
  return Number(rows[0]?.count ?? 0);
}
