import type { Asset, Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { SignedTx } from '../../chains/port/index.ts';
import { newId } from '../../platform/db/ids/index.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import type { AttemptRow } from '../queries.ts';
import { TRANSFER_MOVES } from '../states.ts';
import { lockWallet, takeOrdinal } from '../wallets/wallet-queries.ts';
import type { BookedItem } from './recheck.ts';
import '../tables.ts';

/** Attempts that were decided in final blocks of these heights, and those whose block is gone. */
export async function listDecidedAttempts(
  db: Db,
  merchantId: string,
  { network, above, upTo }: { network: Network; above: bigint; upTo: bigint },
): Promise<AttemptRow[]> {
  return await db
    .selectFrom('transfer_attempt')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('network', '=', network)
    .where('status', 'in', ['succeeded', 'failed', 'dead'])
    .where('raw', 'is not', null)
    .where((e) =>
      e.or([e.and([e('height', '>', above), e('height', '<=', upTo)]), e('gone_at', 'is not', null)]),
    )
    // In the order in which a chain takes them.
    .orderBy('sequence')
    .orderBy('height')
    .execute();
}

/** Locks an attempt, so that of two concurrent audits the second sees what the first has written. */
export async function lockAttempt(tx: Tx, attempt: AttemptRow): Promise<AttemptRow> {
  return await tx
    .selectFrom('transfer_attempt')
    .selectAll()
    .where('merchant_id', '=', attempt.merchant_id)
    .where('attempt_id', '=', attempt.attempt_id)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

/** A transfer of an attempt. */
export interface CarriedTransfer extends BookedItem {
  ownerType: string;
  ownerId: string;
  groupId: string;
  amount: bigint;
  currency: Asset;
  isCharge: boolean;
}

/**
 * Locks the transfers of an attempt, in the order of its items; none where it only fills a gap. One that was ordered again,
 * and whose place this attempt turned out to have paid, stands for the first one.
 */
export async function lockCarriedTransfers(tx: Tx, attempt: AttemptRow): Promise<CarriedTransfer[]> {
  const ids = await transfersOf(tx, attempt);
  const { rows } = await sql<CarriedTransfer>`
    select transfer_id as "transferId", owner_type as "ownerType", owner_id as "ownerId", group_id as "groupId", amount,
      currency, charge is not null as "isCharge",
      case when status = 'succeeded' and tx_id = ${attempt.tx_id} and lost_at is null then 'paid'
           when status = 'succeeded' and lost_at is not null then 'lost'
           when status = 'queued' then 'queued' else 'other' end as booked
    from transfer
    where merchant_id = ${attempt.merchant_id} and transfer_id = any(${ids}::uuid[])
    order by array_position(${ids}::uuid[], transfer_id)
    for update`.execute(tx);
  return rows;
}

async function transfersOf(tx: Tx, attempt: AttemptRow): Promise<string[]> {
  const { rows } = await sql<{ itemId: string; transferId: string }>`
    select t.transfer_id as "itemId", p.transfer_id as "transferId"
    from transfer t
    join transfer p on p.merchant_id = t.merchant_id and p.group_id = t.group_id and p.place = t.place
      and p.transfer_id <> t.transfer_id and p.status = 'succeeded' and p.tx_id = ${attempt.tx_id}
    where t.merchant_id = ${attempt.merchant_id} and t.transfer_id = any(${attempt.item_ids}::uuid[])`.execute(
    tx,
  );
  const standIn = new Map(rows.map((row) => [row.itemId, row.transferId]));
  return attempt.item_ids.map((id) => standIn.get(id) ?? id);
}

/** Replaces an attempt's stray payments. */
export async function writeStrays(tx: Tx, attempt: AttemptRow, strayIds: readonly string[]): Promise<void> {
  await sql`
    update transfer_attempt set stray_ids = ${strayIds}::uuid[]
    where merchant_id = ${attempt.merchant_id} and attempt_id = ${attempt.attempt_id}`.execute(tx);
}

/** Marks a transaction whose final block is gone. @returns false where it was marked before */
export async function markGone(tx: Tx, attempt: AttemptRow, nowSeconds: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update transfer_attempt set gone_at = ${nowSeconds}
    where merchant_id = ${attempt.merchant_id} and attempt_id = ${attempt.attempt_id} and gone_at is null`.execute(
    tx,
  );
  return numAffectedRows === 1n;
}

/** Marks a transaction as decided again, with its stray payments. */
export async function markDecided(
  tx: Tx,
  attempt: AttemptRow,
  { height, strayIds, differs }: { height: bigint; strayIds: readonly string[]; differs: boolean },
): Promise<void> {
  await sql`
    update transfer_attempt set gone_at = null, height = ${height}, stray_ids = ${strayIds}::uuid[], differs = ${differs}
    where merchant_id = ${attempt.merchant_id} and attempt_id = ${attempt.attempt_id}`.execute(tx);
}

/** @param lostAt when the transfers were lost; null where they were found again */
export async function markLost(
  tx: Tx,
  merchantId: string,
  transferIds: readonly string[],
  lostAt: number | null,
): Promise<void> {
  if (transferIds.length === 0) return;
  await sql`
    update transfer set lost_at = ${lostAt}::bigint
    where merchant_id = ${merchantId} and transfer_id = any(${transferIds}::uuid[]) and status = 'succeeded'`.execute(
    tx,
  );
}

/** Marks lost transfers as found, in this attempt's transaction, which may be another one than the one that was lost. */
export async function markFound(tx: Tx, attempt: AttemptRow, transferIds: readonly string[]): Promise<void> {
  await markLost(tx, attempt.merchant_id, transferIds, null);
  await setPayer(tx, attempt, transferIds);
}

/** Writes which attempt has paid transfers that count as paid. */
export async function setPayer(tx: Tx, payer: AttemptRow, transferIds: readonly string[]): Promise<void> {
  if (transferIds.length === 0) return;
  await sql`
    update transfer set tx_id = ${payer.tx_id}
    where merchant_id = ${payer.merchant_id} and transfer_id = any(${transferIds}::uuid[])
      and status = 'succeeded'`.execute(tx);
}

const PAID_EARLIER = TRANSFER_MOVES.move('queued', 'succeeded');

/** Marks queued transfers as paid by an earlier attempt. */
export async function markPaidEarlier(
  tx: Tx,
  { merchant_id: merchantId, tx_id: txId }: AttemptRow,
  transferIds: readonly string[],
  nowSeconds: number,
): Promise<void> {
  if (transferIds.length === 0) return;
  await sql`
    update transfer set status = ${PAID_EARLIER.to}, tx_id = ${txId}, completed_at = ${nowSeconds}
    where merchant_id = ${merchantId} and transfer_id = any(${transferIds}::uuid[])
      and status = ${PAID_EARLIER.from}`.execute(tx);
}

/** The numbers under which the holder signs a payment that fills a gap. */
export interface GapNumbers {
  gapId: string;
  ordinal: bigint;
  previous: string | null;
}

/** Takes the wallet's next number for a payment that fills a gap, once. */
export async function numberGap(tx: Tx, attempt: AttemptRow): Promise<GapNumbers> {
  const { network, sender } = attempt;
  // The lock on the wallet's row serialises its numbers.
  await lockWallet(tx, { network, sender, chainNext: null });
  const known = await tx
    .selectFrom('transfer_attempt')
    .select(['gap_id', 'gap_ordinal', 'gap_previous_id'])
    .where('merchant_id', '=', attempt.merchant_id)
    .where('attempt_id', '=', attempt.attempt_id)
    .executeTakeFirstOrThrow();
  const gapId = known.gap_id ?? newId();
  if (known.gap_ordinal !== null)
    return { gapId, ordinal: known.gap_ordinal, previous: known.gap_previous_id };
  const { ordinal, previous } = await takeOrdinal(tx, attempt, gapId);
  await sql`
    update transfer_attempt set gap_id = ${gapId}, gap_ordinal = ${ordinal}, gap_previous_id = ${previous}
    where merchant_id = ${attempt.merchant_id} and attempt_id = ${attempt.attempt_id}`.execute(tx);
  return { gapId, ordinal, previous };
}

/**
 * Stores the bytes of a payment that fills a gap, once. For a sent attempt they are what its sequence can cost from now on.
 *
 * @returns the stored bytes
 */
export async function storeGap(
  tx: Tx,
  attempt: AttemptRow,
  { txId, raw, feeLimit }: Pick<SignedTx, 'txId' | 'raw' | 'feeLimit'>,
): Promise<{ txId: string; raw: string }> {
  const limit = feeLimit === undefined ? null : String(feeLimit);
  const { rows } = await sql<{ txId: string; raw: string }>`
    update transfer_attempt
    set gap_tx_id = coalesce(gap_tx_id, ${txId}::text), gap_raw = coalesce(gap_raw, ${raw}::text),
      fee_limit = case when gap_raw is null and status = 'sent' then coalesce(${limit}::numeric, fee_limit) else fee_limit end
    where merchant_id = ${attempt.merchant_id} and attempt_id = ${attempt.attempt_id}
    returning gap_tx_id as "txId", gap_raw as raw`.execute(tx);
  return rows[0] ?? { txId, raw };
}
