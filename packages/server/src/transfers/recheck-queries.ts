import type { Asset, Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Db, Tx } from '../platform/db/index.ts';
import { newId } from '../platform/db/index.ts';
import type { AttemptRow } from './queries.ts';
import type { BookedItem } from './recheck.ts';
import { lockWallet, takeOrdinal } from './wallet-queries.ts';
import './tables.ts';

/** Attempts that were decided in final blocks of these heights, and those that have left theirs. */
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

/** The attempt as it is now: of two audits at once each sees what the other has noted. */
export async function lockAttempt(tx: Tx, attempt: AttemptRow): Promise<AttemptRow> {
  return await tx
    .selectFrom('transfer_attempt')
    .selectAll()
    .where('merchant_id', '=', attempt.merchant_id)
    .where('attempt_id', '=', attempt.attempt_id)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

/** A transfer that an attempt carried. */
export interface Carried extends BookedItem {
  ownerType: string;
  ownerId: string;
  groupId: string;
  amount: bigint;
  currency: Asset;
  isCharge: boolean;
}

/** The transfers of an attempt in the order of its items, locked; none where it only used up a sequence. */
export async function lockCarried(tx: Tx, attempt: AttemptRow): Promise<Carried[]> {
  const { rows } = await sql<Carried>`
    select transfer_id as "transferId", owner_type as "ownerType", owner_id as "ownerId", group_id as "groupId", amount,
      currency, charge is not null as "isCharge",
      case when status = 'succeeded' and tx_id = ${attempt.tx_id} and lost_at is null then 'paid'
           when status = 'succeeded' and tx_id = ${attempt.tx_id} then 'lost'
           when status = 'queued' then 'queued' else 'other' end as booked
    from transfer
    where merchant_id = ${attempt.merchant_id} and transfer_id = any(${attempt.item_ids}::uuid[])
    order by array_position(${attempt.item_ids}::uuid[], transfer_id)
    for update`.execute(tx);
  return rows;
}

/** Notes that a transaction has left its final block. @returns false where that is known */
export async function markGone(tx: Tx, attempt: AttemptRow, nowSeconds: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update transfer_attempt set gone_at = ${nowSeconds}
    where merchant_id = ${attempt.merchant_id} and attempt_id = ${attempt.attempt_id} and gone_at is null`.execute(
    tx,
  );
  return numAffectedRows === 1n;
}

/** Notes that a transaction is decided again, and what it has paid against the books. */
export async function markDecided(
  tx: Tx,
  attempt: AttemptRow,
  { height, strayIds, differs }: { height: bigint; strayIds: readonly string[]; differs: boolean },
): Promise<void> {
  await sql`
    update transfer_attempt set gone_at = null, height = ${height}, stray_ids = ${strayIds}::uuid[], differs = ${differs}
    where merchant_id = ${attempt.merchant_id} and attempt_id = ${attempt.attempt_id}`.execute(tx);
}

/** Notes when transfers were lost; null: they were not after all. */
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

/** Transfers that wait for an attempt were paid by an earlier one. */
export async function adoptPaid(
  tx: Tx,
  { merchant_id: merchantId, tx_id: txId }: AttemptRow,
  transferIds: readonly string[],
  nowSeconds: number,
): Promise<void> {
  if (transferIds.length === 0) return;
  await sql`
    update transfer set status = 'succeeded', tx_id = ${txId}, completed_at = ${nowSeconds}
    where merchant_id = ${merchantId} and transfer_id = any(${transferIds}::uuid[]) and status = 'queued'`.execute(
    tx,
  );
}

/** How a payment that takes an attempt's sequence is known to whoever signs it. */
export interface GapNumbers {
  gapId: string;
  ordinal: bigint;
  previous: string | null;
}

/** Takes the wallet's next number for it, once. */
export async function numberGap(tx: Tx, attempt: AttemptRow): Promise<GapNumbers> {
  const { network, sender } = attempt;
  // The wallet's row orders everybody who takes a number of it.
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

/** Stores the bytes that take an attempt's sequence, once. @returns the ones that are stored */
export async function storeGap(
  tx: Tx,
  attempt: AttemptRow,
  gap: { txId: string; raw: string },
): Promise<{ txId: string; raw: string }> {
  const { rows } = await sql<{ txId: string; raw: string }>`
    update transfer_attempt
    set gap_tx_id = coalesce(gap_tx_id, ${gap.txId}::text), gap_raw = coalesce(gap_raw, ${gap.raw}::text)
    where merchant_id = ${attempt.merchant_id} and attempt_id = ${attempt.attempt_id}
    returning gap_tx_id as "txId", gap_raw as raw`.execute(tx);
  return rows[0] ?? gap;
}
