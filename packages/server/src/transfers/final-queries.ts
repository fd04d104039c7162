import type { Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Db, Tx } from '../platform/db.ts';
import type { AttemptRow } from './queries.ts';
import './tables.ts';

/** Attempts that paid in final blocks of these heights. */
export async function listFinal(
  db: Db,
  merchantId: string,
  { network, above, upTo }: { network: Network; above: bigint; upTo: bigint },
) {
  return await db
    .selectFrom('transfer_attempt')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('network', '=', network)
    .where('status', '=', 'succeeded')
    .where('height', '>', above)
    .where('height', '<=', upTo)
    .orderBy('height')
    .execute();
}

const GONE = 'gone after it was final';

/** Whether it was found to have left its final block. */
export const isGone = ({ detail }: Pick<AttemptRow, 'detail'>) => detail === GONE;

/** Notes that a transaction that was gone is final again, in that block. */
export async function markFinalAgain(
  tx: Tx,
  { merchant_id: merchantId, attempt_id: attemptId }: AttemptRow,
  height: bigint,
): Promise<void> {
  await sql`
    update transfer_attempt set detail = null, height = ${height}
    where merchant_id = ${merchantId} and attempt_id = ${attemptId} and detail = ${GONE}`.execute(tx);
}

/** Notes that a transaction has left its final block. @returns false where that is known */
export async function markGone(
  tx: Tx,
  { merchant_id: merchantId, attempt_id: attemptId }: AttemptRow,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update transfer_attempt set detail = ${GONE}
    where merchant_id = ${merchantId} and attempt_id = ${attemptId} and detail is distinct from ${GONE}`.execute(
    tx,
  );
  return numAffectedRows === 1n;
}

/** Whose transfers these are. */
export async function listOwners(
  db: Db,
  merchantId: string,
  transferIds: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ owner_id: string }>`
    select owner_id from transfer
    where merchant_id = ${merchantId} and transfer_id = any(${transferIds}::uuid[])`.execute(db);
  return rows.map((row) => row.owner_id);
}

/** Owners of those of these transfers that are charges. */
export async function listChargeOwners(
  db: Db,
  merchantId: string,
  transferIds: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ owner_id: string }>`
    select owner_id from transfer
    where merchant_id = ${merchantId} and transfer_id = any(${transferIds}::uuid[]) and charge is not null`.execute(
    db,
  );
  return rows.map((row) => row.owner_id);
}
