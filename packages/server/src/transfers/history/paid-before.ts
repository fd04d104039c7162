import { sql } from 'kysely';
import type { Chain, TxStatus } from '../../chains/port/index.ts';
import { post } from '../../ledger/index.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { readDeciding, versionsOf } from '../attempts/versions.ts';
import { lockAttempt, lockCarriedTransfers, writeStrays } from '../blocks/recheck-queries.ts';
import { strayPostings } from '../books/stray.ts';
import type { AttemptRow } from '../queries.ts';
import { movedItems, paidBefore } from '../states.ts';

// A network pays each place of a group once. Where a node has called a transaction dead that was mined after all, the next
// attempt moves nothing and reports the place as paid before: the transfer has succeeded, by the earlier transaction.

interface EarlierAttempt {
  /** One of the transfers whose payers are looked for. */
  transferId: string;
  /** The transfer that the attempt carried at the same place: the same one, or a lost one that `transferId` repeats. */
  earlierTransferId: string;
  attempt: AttemptRow;
}

/**
 * Finds the transactions of ours that paid transfers before this attempt came.
 *
 * @returns by the attempt's transfer; without an entry where it is not known here
 * @throws ChainUnavailable
 */
export async function findPayers(
  db: Db,
  chain: Chain,
  attempt: AttemptRow,
  status: TxStatus,
): Promise<Map<string, AttemptRow>> {
  const payers = new Map<string, AttemptRow>();
  const before = status.final ? paidBefore(status, attempt.item_ids.length) : [];
  if (!before.includes(true)) return payers;
  const ids = attempt.item_ids.filter((_, i) => before[i]);
  const earlier = await listEarlierAttempts(db, attempt, ids);
  for (const own of Map.groupBy(earlier, (one) => one.attempt.attempt_id).values()) {
    const [first] = own;
    if (first === undefined) continue;
    const { status: seen } = await readDeciding(chain, await versionsOf(db, first.attempt));
    const { item_ids: itemIds } = first.attempt;
    const moved = seen.final ? movedItems(seen, itemIds.length, chain.capabilities) : undefined;
    for (const { transferId, earlierTransferId } of own)
      if (moved?.[itemIds.indexOf(earlierTransferId)]) payers.set(transferId, first.attempt);
  }
  return payers;
}

/** Other signed attempts for the places of these transfers. A lost transfer may have been ordered again in its place. */
async function listEarlierAttempts(
  db: Db,
  { merchant_id: merchantId, attempt_id: attemptId, group_id: groupId }: AttemptRow,
  transferIds: readonly string[],
): Promise<EarlierAttempt[]> {
  const { rows: carried } = await sql<Omit<EarlierAttempt, 'attempt'> & { attemptId: string }>`
    select t.transfer_id as "transferId", s.transfer_id as "earlierTransferId", a.attempt_id as "attemptId"
    from transfer t
    join transfer s on s.merchant_id = t.merchant_id and s.group_id = t.group_id and s.place = t.place
    join transfer_attempt a on a.merchant_id = t.merchant_id and a.group_id = t.group_id and a.raw is not null
      and s.transfer_id = any(a.item_ids)
    where t.merchant_id = ${merchantId} and t.group_id = ${groupId} and t.transfer_id = any(${transferIds}::uuid[])
      and a.attempt_id <> ${attemptId}`.execute(db);
  if (carried.length === 0) return [];
  const attempts = await db
    .selectFrom('transfer_attempt')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where(
      'attempt_id',
      'in',
      carried.map((one) => one.attemptId),
    )
    .execute();
  const byId = new Map(attempts.map((one) => [one.attempt_id, one]));
  return carried.flatMap(({ transferId, earlierTransferId, attemptId: id }) => {
    const attempt = byId.get(id);
    return attempt === undefined ? [] : [{ transferId, earlierTransferId, attempt }];
  });
}

/**
 * Takes back what was booked as stray of payments that now count: their transfers are about to be written as paid by them.
 * Locks the attempts that paid, before any transfer is locked.
 */
export async function unbookStrays(
  tx: Tx,
  payers: readonly [transferId: string, payer: AttemptRow][],
  nowSeconds: number,
): Promise<void> {
  const byAttempt = [...Map.groupBy(payers, ([, { attempt_id: id }]) => id).values()];
  for (const own of byAttempt.toSorted((a, b) => (attemptIdOf(a) < attemptIdOf(b) ? -1 : 1))) {
    const [first] = own;
    if (first === undefined) continue;
    const payer = await lockAttempt(tx, first[1]);
    if (payer.stray_ids.length === 0) continue;
    const items = await lockCarriedTransfers(tx, payer);
    const counted = await itemsAtPlaces(
      tx,
      payer,
      own.map(([transferId]) => transferId),
    );
    const now = payer.stray_ids.filter((id) => !counted.has(id));
    const { network, merchant_id: merchantId } = payer;
    await post(tx, merchantId, strayPostings(items, { network, before: payer.stray_ids, now }), nowSeconds);
    await writeStrays(tx, payer, now);
  }
}

const attemptIdOf = (payers: readonly [string, AttemptRow][]) => payers[0]?.[1].attempt_id ?? '';

/** The transfers that were ordered at the places of these ones. */
async function itemsAtPlaces(
  tx: Tx,
  { merchant_id: merchantId, group_id: groupId }: AttemptRow,
  transferIds: readonly string[],
): Promise<Set<string>> {
  const { rows } = await sql<{ transfer_id: string }>`
    select s.transfer_id from transfer t
    join transfer s on s.merchant_id = t.merchant_id and s.group_id = t.group_id and s.place = t.place
    where t.merchant_id = ${merchantId} and t.group_id = ${groupId}
      and t.transfer_id = any(${transferIds}::uuid[])`.execute(tx);
  return new Set(rows.map((row) => row.transfer_id));
}
