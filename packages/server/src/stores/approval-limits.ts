import { sql } from 'kysely';
import type { Tx } from '../platform/db/index.ts';
import './tables.ts';

// What may leave a merchant without a second person: single sums up to a threshold, and only so much in any 24 hours.
// Money that somebody splits into many small sums, or sends at once, meets the second limit.

/** Null: no limit. */
export interface ApprovalLimits {
  /** A single sum above this needs approval. */
  above: bigint | null;
  /** So does one that would take what went unapproved in 24 hours above this. */
  perDay: bigint | null;
}

export const APPROVAL_WINDOW_SECONDS = 86_400;

/** The limits that settings stand for. */
export function approvalLimitsOf(settings: {
  approvalAbove: bigint | 'off';
  unapprovedPerDay: bigint | 'off' | 'threshold';
}): ApprovalLimits {
  const above = settings.approvalAbove === 'off' ? null : settings.approvalAbove;
  const { unapprovedPerDay: perDay } = settings;
  if (perDay === 'threshold') return { above, perDay: above };
  return { above, perDay: perDay === 'off' ? null : perDay };
}

/** @param unapproved what has gone unapproved in the 24 hours before, this sum not included */
export function needsApproval(
  amount: bigint,
  unapproved: bigint,
  { above, perDay }: ApprovalLimits,
): boolean {
  if (above !== null && amount > above) return true;
  return perDay !== null && unapproved + amount > perDay;
}

/** Whether only what went before can decide: then the caller takes the lock, and reads it. */
export function dependsOnWindow(amount: bigint, limits: ApprovalLimits): boolean {
  return limits.perDay !== null && !needsApproval(amount, 0n, limits);
}

/**
 * Makes those who decide at once whether something of a merchant needs approval wait for each other until they commit.
 * What went unapproved is read in a statement of its own after this one, so that it shows what the one before committed.
 */
export async function lockApprovals(tx: Tx, merchantId: string, kind: 'payouts' | 'refunds'): Promise<void> {
  await sql`
    insert into approval_lock (merchant_id, kind) values (${merchantId}, ${kind})
    on conflict (merchant_id, kind) do update set kind = excluded.kind`.execute(tx);
}
