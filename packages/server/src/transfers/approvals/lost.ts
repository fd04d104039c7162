import { sql } from 'kysely';
import type { Tx } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { type VoteCount, votes } from '../../stores/approvers/index.ts';
import type { listDecided } from '../queries.ts';
import { TRANSFER_MOVES } from '../states.ts';
import '../tables.ts';

// Rules for lost transfers, shared by everything that orders transfers: payout items and refunds.

/** A transfer that a reorganisation took and whose bytes are dead. */
interface LostTransfer {
  transferId: string;
  txId: string;
  /** The subject of the votes; another loss of the same owner or transfer is another subject. */
  subject: string;
}

/** `repay`: the recipient is paid again. `give_back`: the merchant gets the money back. */
export type LostDecision = 'repay' | 'give_back';

/**
 * Counts an approver's vote on a lost transfer; the caller has locked its owner. The last vote fails the lost transfer, and
 * the caller carries the decision out in the same transaction.
 *
 * @throws Fail `invalid_request` where it is not lost, is being paid again, or may still be mined, and for an approver who
 *   has voted before
 */
export async function voteOnLost(
  tx: Tx,
  merchantId: string,
  vote: { action: string; ownerType: string; ownerId: string; approverId: string; decision: LostDecision },
  nowSeconds: number,
): Promise<VoteCount> {
  const { action, approverId, decision } = vote;
  const lost = await lockLost(tx, merchantId, vote);
  const count = await votes.castVote(
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
 * The change of a succeeded owner after a change of its newest decided transfer: lost, found again, or paid again by
 * another transfer. A failed transfer is a second payment that did not happen: the owner stays lost.
 *
 * @returns undefined where nothing changes
 */
export function lostChange(
  owner: Owner,
  transfer: Awaited<ReturnType<typeof listDecided>>[number] | undefined,
): { tx_id: string | null; lost_at: number | null } | undefined {
  if (owner.status !== 'succeeded' || transfer?.status !== 'succeeded') return undefined;
  const [before, now] = [owner, transfer].map(({ lost_at }) => (lost_at === null ? null : Number(lost_at)));
  if (before === now && owner.tx_id === transfer.tx_id) return undefined;
  return { tx_id: transfer.tx_id, lost_at: now ?? null };
}

/**
 * Locks the lost transfer of an owner. A transfer is marked lost only after the chain has reported its bytes dead for good.
 *
 * @throws Fail `invalid_request` where it is not lost, is being paid again, or may still be mined
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
    throw refuse('It is being paid again, or has been.');
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
 * Whether a transaction of these transfers may still be mined. A statement of its own, after the transfers are locked: an
 * audit that held the locks may have marked an attempt as gone, and the snapshot of the statement that waited is older.
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

const GIVE_UP = TRANSFER_MOVES.move('succeeded', 'failed');

/** Fails a lost transfer after the decision. Mined after all, it is stray. */
async function closeLost(tx: Tx, merchantId: string, { transferId }: LostTransfer): Promise<void> {
  await sql`
    update transfer set status = ${GIVE_UP.to}, failure_code = 'transfer_failed',
      failure_message = 'A reorganisation took the transaction. Nothing was paid.'
    where merchant_id = ${merchantId} and transfer_id = ${transferId} and lost_at is not null
      and status = ${GIVE_UP.from}`.execute(tx);
}
