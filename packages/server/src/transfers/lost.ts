import { sql } from 'kysely';
import type { Tx } from '../platform/db.ts';
import { Fail } from '../platform/fail.ts';
import './tables.ts';

/** A transfer of an owner that a reorganisation took and that nothing can pay any more. */
export interface LostTransfer {
  transferId: string;
  txId: string;
  /** What people decide of: another loss of the same owner, or of the same transfer, is another subject. */
  subject: string;
}

/**
 * Locks the lost transfer of an owner: proof that the bytes of all that was ever sent for it are dead, as nothing is
 * marked lost before the chain has said so for good.
 *
 * @throws Fail `invalid_request` where it is not lost, is being paid anew, or may still be mined
 */
export async function lockLost(
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
export async function closeLost(tx: Tx, merchantId: string, { transferId }: LostTransfer): Promise<void> {
  await sql`
    update transfer set status = 'failed', failure_code = 'transfer_failed',
      failure_message = 'A reorganisation took the transaction. Nothing was paid.'
    where merchant_id = ${merchantId} and transfer_id = ${transferId} and lost_at is not null`.execute(tx);
}
