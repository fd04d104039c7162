import { sql } from 'kysely';
import type { Tx } from '../../platform/db/index.ts';
import '../tables.ts';

// Limits of what may leave a merchant without a second person: single sums up to a threshold, and a total in any 24 hours.
// The second limit catches a sum that is split into many small ones, or sent concurrently.

/** Null: no limit. */
export interface ApprovalLimits {
  /** A single sum above this needs approval. */
  above: bigint | null;
  /** A sum that takes the unapproved total of 24 hours above this needs approval. */
  perDay: bigint | null;
}

const WINDOW_SECONDS = 86_400;

interface ApprovalSettings {
  approvalAbove: bigint | 'off';
  unapprovedPerDay: bigint | 'off' | 'threshold';
}

/** An amount that is about to leave a merchant. */
interface Outflow {
  merchantId: string;
  kind: 'payouts' | 'refunds';
  amount: bigint;
  /** The merchant's clock. */
  nowSeconds: number;
}

/**
 * Decides whether an amount needs approval. Where the unapproved total of the last 24 hours matters, concurrent decisions
 * of the merchant are serialised until commit, and the total is read after the lock.
 *
 * @param sumUnapproved sums what left without approval after a time of the merchant's clock
 */
export async function decideNeedsApproval(
  tx: Tx,
  { merchantId, kind, amount, nowSeconds }: Outflow,
  settings: ApprovalSettings,
  sumUnapproved: (tx: Tx, merchantId: string, after: number) => Promise<bigint>,
): Promise<boolean> {
  const limits = approvalLimitsOf(settings);
  if (!dependsOnWindow(amount, limits)) return needsApproval(amount, 0n, limits);
  await lockApprovals(tx, merchantId, kind);
  const unapproved = await sumUnapproved(tx, merchantId, nowSeconds - WINDOW_SECONDS);
  return needsApproval(amount, unapproved, limits);
}

/** Translates settings to limits. */
export function approvalLimitsOf(settings: ApprovalSettings): ApprovalLimits {
  const above = settings.approvalAbove === 'off' ? null : settings.approvalAbove;
  const { unapprovedPerDay: perDay } = settings;
  if (perDay === 'threshold') return { above, perDay: above };
  return { above, perDay: perDay === 'off' ? null : perDay };
}

/** @param unapproved the sum without approval in the last 24 hours, without this amount */
export function needsApproval(
  amount: bigint,
  unapproved: bigint,
  { above, perDay }: ApprovalLimits,
): boolean {
  if (above !== null && amount > above) return true;
  return perDay !== null && unapproved + amount > perDay;
}

/** Whether the unapproved total decides. */
export function dependsOnWindow(amount: bigint, limits: ApprovalLimits): boolean {
  return limits.perDay !== null && !needsApproval(amount, 0n, limits);
}

/**
 * Serialises concurrent decisions about approvals of one merchant, or with the nil id of all, until commit. The unapproved total is read in a statement
 * after this one, so that its snapshot includes the commit before.
 */
export async function lockApprovals(tx: Tx, merchantId: string, kind: 'payouts' | 'refunds'): Promise<void> {
  await sql`
    insert into approval_lock (merchant_id, kind) values (${merchantId}, ${kind})
    on conflict (merchant_id, kind) do update set kind = excluded.kind`.execute(tx);
}
