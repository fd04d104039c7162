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

/** Whose transfers these are, all of them or the charges alone. */
export async function listOwners(
  db: Db,
  merchantId: string,
  transferIds: readonly string[],
  which: 'all' | 'charges' = 'all',
): Promise<string[]> {
  if (transferIds.length === 0) return [];
  let query = db
    .selectFrom('transfer')
    .select('owner_id')
    .where('merchant_id', '=', merchantId)
    .where('transfer_id', '=', sql<string>`any(${transferIds}::uuid[])`);
  if (which === 'charges') query = query.where('charge', 'is not', null);
  return (await query.execute()).map((row) => row.owner_id);
}
