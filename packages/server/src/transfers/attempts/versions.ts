import { sql } from 'kysely';
import type { Chain, SignedTx } from '../../chains/port/index.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { lockAttempt } from '../blocks/recheck-queries.ts';
import { type AttemptRow, signedOf } from '../queries.ts';
import { decidingVersion, type VersionStatus } from '../states.ts';

/** All versions of attempts, oldest first, by attempt; reads nothing where none was replaced. */
export async function readVersions(
  db: Db,
  attempts: readonly AttemptRow[],
): Promise<Map<string, SignedTx[]>> {
  const replaced = attempts.filter(({ versions }) => versions > 1);
  const [first] = replaced;
  const rows =
    first === undefined
      ? []
      : await db
          .selectFrom('transfer_version')
          .selectAll()
          .where('merchant_id', '=', first.merchant_id)
          .where(
            'attempt_id',
            'in',
            replaced.map((attempt) => attempt.attempt_id),
          )
          .orderBy('number')
          .execute();
  const stored = Map.groupBy(rows, (row) => row.attempt_id);
  return new Map(
    attempts.map((attempt) => {
      const own = stored.get(attempt.attempt_id) ?? [attempt];
      return [attempt.attempt_id, own.map((version) => signedOf({ ...attempt, ...bytesOf(version) }))];
    }),
  );
}

const bytesOf = ({ tx_id, raw, fee_limit }: Pick<AttemptRow, 'tx_id' | 'raw' | 'fee_limit'>) => ({
  tx_id,
  raw,
  fee_limit,
});

/** The versions of one attempt. */
export async function versionsOf(db: Db, attempt: AttemptRow): Promise<SignedTx[]> {
  return (await readVersions(db, [attempt])).get(attempt.attempt_id) ?? [];
}

/** As `decidingVersion`, with the status of the newest one by itself. */
export async function readDeciding(
  chain: Chain,
  versions: readonly SignedTx[],
): Promise<VersionStatus & { newest: VersionStatus }> {
  const statuses: VersionStatus[] = [];
  for (const signed of versions) statuses.push({ signed, status: await chain.status(signed) });
  const newest = statuses.at(-1);
  if (newest === undefined) throw new Error('an attempt has at least one version');
  return { ...decidingVersion(statuses), newest };
}

/**
 * Stores a further version of a sent attempt, before it is sent.
 *
 * @returns false where the attempt was decided or replaced meanwhile: nothing was stored, and the bytes must not be sent
 */
export async function storeVersion(
  tx: Tx,
  known: AttemptRow,
  { txId, raw, feeLimit }: SignedTx,
  nowSeconds: number,
): Promise<boolean> {
  const attempt = await lockAttempt(tx, known);
  if (attempt.status !== 'sent' || attempt.versions !== known.versions) return false;
  const row = { merchant_id: attempt.merchant_id, attempt_id: attempt.attempt_id, network: attempt.network };
  const { tx_id: firstId, raw: firstRaw, fee_limit: firstLimit, sent_at: sentAt, versions } = attempt;
  if (firstId === null || firstRaw === null) throw new Error('a sent attempt has stored bytes');
  const limit = feeLimit === undefined ? null : String(feeLimit);
  const first = { number: 0, tx_id: firstId, raw: firstRaw, fee_limit: firstLimit };
  const next = { number: versions, tx_id: txId, raw, fee_limit: limit };
  const added = versions === 1 ? [{ ...first, signed_at: sentAt ?? nowSeconds }] : [];
  await tx
    .insertInto('transfer_version')
    .values([...added, { ...next, signed_at: nowSeconds }].map((version) => ({ ...row, ...version })))
    .execute();
  await sql`
    update transfer_attempt set tx_id = ${txId}, raw = ${raw}, fee_limit = ${limit}::numeric,
      versions = ${versions + 1}, sent_at = ${nowSeconds}
    where merchant_id = ${attempt.merchant_id} and attempt_id = ${attempt.attempt_id}`.execute(tx);
  return true;
}

/** Makes the version that was mined the attempt's own, and the payer of the transfers that were booked as paid by another. */
export async function adoptVersion(
  tx: Tx,
  { merchant_id: merchantId, attempt_id: attemptId, tx_id: before, item_ids: itemIds }: AttemptRow,
  { txId, raw, feeLimit }: SignedTx,
): Promise<void> {
  if (txId === before) return;
  await sql`
    update transfer_attempt set tx_id = ${txId}, raw = ${raw}, fee_limit = ${feeLimit === undefined ? null : String(feeLimit)}::numeric
    where merchant_id = ${merchantId} and attempt_id = ${attemptId}`.execute(tx);
  await sql`
    update transfer set tx_id = ${txId}
    where merchant_id = ${merchantId} and transfer_id = any(${itemIds}::uuid[]) and tx_id = ${before}`.execute(
    tx,
  );
}
