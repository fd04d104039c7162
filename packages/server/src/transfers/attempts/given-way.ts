import { sql } from 'kysely';
import type { Tx } from '../../platform/db/index.ts';
import { type AttemptRow, carryTransfers, type TransferRow } from '../queries.ts';
import type { SendContext } from '../send-context.ts';
import { ATTEMPT_MOVES } from '../states.ts';
import { readFirstOrdinal, type Wallet } from '../wallets/wallet-queries.ts';
import { lockWalletOf } from './abandon-attempt.ts';

// A charge that gave way to its signer (`blocked-attempts.ts`) tries again with the attempt that it had. A signer learns the ids of all
// attempts before one, and at most 20,000 at once: with a new attempt for each try, charges that are refused for long would lock their
// wallet out. The attempt has no stored bytes, so none of it was ever sent; where its signer has signed it once, it gives the same bytes.

const TAKE_UP = ATTEMPT_MOVES.move('failed', 'reserved');

/**
 * Takes up the attempts of these locked charges, under the lock of the wallet that sends them. Those of another wallet, or of an earlier
 * history of the database, have numbers that no signer takes any more.
 *
 * @returns the charges that have none
 */
export async function takeUpAttempts(
  tx: Tx,
  wallet: Pick<Wallet, 'network' | 'sender'>,
  { charges, nowSeconds }: { charges: readonly TransferRow[]; nowSeconds: number },
): Promise<TransferRow[]> {
  const tried = charges.filter(({ tries }) => tries > 0);
  const [first] = tried;
  if (first === undefined) return [...charges];
  const { merchant_id: merchantId } = first;
  const groupIds = tried.map(({ group_id: groupId }) => groupId);
  const firstOrdinal = await readFirstOrdinal(tx, wallet);
  const { rows } = await sql<{ attemptId: string; transferId: string }>`
    update transfer_attempt a
    set status = ${TAKE_UP.to}, created_at = ${nowSeconds}, completed_at = null, detail = null, refused_at = null
    from transfer_hold h
    where h.merchant_id = ${merchantId} and h.group_id = any(${groupIds}::uuid[])
      and a.merchant_id = h.merchant_id and a.attempt_id = h.attempt_id
      and a.status = ${TAKE_UP.from} and a.raw is null and a.sequence is null
      and a.network = ${wallet.network} and a.sender = ${wallet.sender} and a.ordinal >= ${firstOrdinal}
    returning a.attempt_id as "attemptId", a.item_ids[1] as "transferId"`.execute(tx);
  await carryTransfers(tx, merchantId, rows);
  const carried = new Set(rows.map(({ transferId }) => transferId));
  return charges.filter(({ transfer_id: transferId }) => !carried.has(transferId));
}

/** A refused try costs a call of the signer, so of hundreds that wait a few try first. */
const GOING_ON_PER_SIGNED = 2;

/**
 * After charges that had given way were signed: ends the holds of twice as many charges of the merchant that wait for the same reason, those
 * that have waited longest. Each round doubles them, so that all go on within minutes; what is refused again waits again.
 */
export async function letOthersTry(
  tx: Tx,
  { merchant: { merchantId }, chain: { network }, nowSeconds }: SendContext,
  signed: readonly AttemptRow[],
  transfers: readonly TransferRow[],
): Promise<void> {
  const triedAgain = new Set(transfers.filter(({ tries }) => tries > 1).map(({ group_id: id }) => id));
  const again = signed.filter(({ group_id: groupId }) => triedAgain.has(groupId));
  const [first] = again;
  if (first === undefined) return;
  const ids = again.map(({ attempt_id: id }) => id);
  const groupIds = again.map(({ group_id: groupId }) => groupId);
  const { rows } = await sql<{ reason: string; count: number }>`
    select reason, count(*)::int as count from transfer_hold
    where merchant_id = ${merchantId} and group_id = any(${groupIds}::uuid[]) and attempt_id = any(${ids}::uuid[])
    group by 1 order by 1`.execute(tx);
  if (rows.length > 0) await lockWalletOf(tx, first);
  for (const { reason, count } of rows)
    await sql`
      update transfer_hold set until = greatest(held_at, ${nowSeconds})
      where merchant_id = ${merchantId} and group_id in (
        select h.group_id from transfer_hold h
        join transfer t on t.merchant_id = h.merchant_id and t.group_id = h.group_id
        where h.merchant_id = ${merchantId} and h.reason = ${reason} and h.until > ${nowSeconds}
          and t.network = ${network} and t.status = 'queued' and t.charge is not null
        order by h.held_at, h.group_id limit ${count * GOING_ON_PER_SIGNED})`.execute(tx);
}
