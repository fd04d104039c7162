import { sql } from 'kysely';
import type { Tx } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { castVote, type VoteCount } from '../stores/index.ts';
import type { listDecided } from './queries.ts';
import './tables.ts';

// What is one rule for everything that orders transfers and may lose one: payout items and refunds.

/** A transfer of an owner that a reorganisation took and that nothing can pay any more. */
interface LostTransfer {
  transferId: string;
  txId: string;
  /** What people decide of: another loss of the same owner, or of the same transfer, is another subject. */
  subject: string;
}

/** Whether the recipient of what was lost is paid anew, or the merchant has its money back. */
export type LostDecision = 'repay' | 'give_back';

/**
 * Counts what a registered approver decides of a lost owner, which the caller has locked. With the last vote the lost
 * transfer is over without having paid, and the caller carries the decision out in the same transaction.
 *
 * @throws Fail `invalid_request` where it is not lost, is being paid anew, or may still be mined, and for whoever decided
 *   before
 */
export async function voteOnLost(
  tx: Tx,
  merchantId: string,
  vote: { action: string; ownerType: string; ownerId: string; approverId: string; decision: LostDecision },
  nowSeconds: number,
): Promise<VoteCount> {
  const { action, approverId, decision } = vote;
  const lost = await lockLost(tx, merchantId, vote);
  const count = await castVote(
    tx,
    merchantId,
    { action, subject: lost.subject, approverId, decision },
    nowSeconds,
  );
  if (count.isDone) await closeLost(tx, merchantId, lost);
  return count;
}

interface Owner {
  status: string;
  tx_id: string | null;
  lost_at: bigint | number | null;
}

/**
 * What changes of an owner that succeeded, as it follows the newest of its transfers that is over: lost with it, found
 * again, or paid anew by another. One that failed is a payment anew that did not come off: the owner is lost as before.
 *
 * @returns undefined where nothing does
 */
export function followLost(
  owner: Owner,
  transfer: Awaited<ReturnType<typeof listDecided>>[number] | undefined,
): { tx_id: string | null; lost_at: number | null } | undefined {
  if (owner.status !== 'succeeded' || transfer?.status !== 'succeeded') return undefined;
  const [before, now] = [owner, transfer].map(({ lost_at }) => (lost_at === null ? null : Number(lost_at)));
  if (before === now && owner.tx_id === transfer.tx_id) return undefined;
  return { tx_id: transfer.tx_id, lost_at: now ?? null };
}

/**
 * Locks the lost transfer of an owner: proof that the bytes of all that was ever sent for it are dead, as nothing is
 * marked lost before the chain has said so for good.
 *
 * @throws Fail `invalid_request` where it is not lost, is being paid anew, or may still be mined
 */
async function lockLost(
  tx: Tx,
  merchantId: string,
  { ownerType, ownerId }: { ownerType: string; ownerId: string },
): Promise<LostTransfer> {
  const { rows } = await sql<{
    transfer_id: string;
    tx_id: string | null;
    status: string;
    lost_at: bigint | null;
  }>`
    select transfer_id, tx_id, status, lost_at from transfer
    where merchant_id = ${merchantId} and owner_type = ${ownerType} and owner_id = ${ownerId}
    order by transfer_id for update`.execute(tx);
  const lost = rows.findLast((row) => row.lost_at !== null);
  const newest = rows.at(-1);
  const refuse = (message: string) => new Fail('invalid_request', message);
  if (lost?.tx_id == null || newest === undefined)
    throw refuse('It is not lost: there is nothing to decide.');
  if (rows.some((row) => row.status !== 'failed' && row.lost_at === null))
    throw refuse('It is being paid anew, or was.');
  if (
    await mayBeMined(
      tx,
      merchantId,
      rows.map((row) => row.transfer_id),
    )
  )
    throw refuse('One of its transactions may still be mined: nothing is decided yet.');
  const subject = `${ownerId} ${newest.transfer_id} ${lost.lost_at}`;
  return { transferId: lost.transfer_id, txId: lost.tx_id, subject };
}

/**
 * Whether a transaction of these transfers is not over, or away. Asked in a statement of its own after they are locked: an
 * audit that held them until then may have found one away, and the statement that waited does not see that.
 */
async function mayBeMined(tx: Tx, merchantId: string, transferIds: readonly string[]): Promise<boolean> {
  const { rows } = await sql<{ is_away: boolean }>`
    select exists (
      select from transfer t join transfer_attempt a on a.merchant_id = t.merchant_id and a.network = t.network
        and t.transfer_id = any(a.item_ids)
      where t.merchant_id = ${merchantId} and t.transfer_id = any(${transferIds}::uuid[])
        and (a.status in ('reserved', 'signed', 'sent') or a.gone_at is not null)
    ) as is_away`.execute(tx);
  return rows[0]?.is_away ?? true;
}

/** It was decided what becomes of a lost transfer: it is over without having paid. Mined after all, it is a loss. */
async function closeLost(tx: Tx, merchantId: string, { transferId }: LostTransfer): Promise<void> {
  await sql`
    update transfer set status = 'failed', failure_code = 'transfer_failed',
      failure_message = 'A reorganisation took the transaction. Nothing was paid.'
    where merchant_id = ${merchantId} and transfer_id = ${transferId} and lost_at is not null`.execute(tx);
}
