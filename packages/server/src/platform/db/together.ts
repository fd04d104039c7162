import { CompiledQuery, type RawBuilder } from 'kysely';
import type { Tx } from './db.ts';
import { type Asked, TOGETHER, type Told } from './shared-trips.ts';

/**
 * Sends kept statements of a transaction in one trip. They run in their order, which is also that of what they lock, and
 * each sees what was committed when its turn came.
 *
 * @returns the rows of each
 */
export async function together<Rows extends unknown[]>(
  tx: Tx,
  ...statements: { [K in keyof Rows]: RawBuilder<Rows[K]> }
): Promise<{ [K in keyof Rows]: Rows[K][] }> {
  const asked = statements.map((statement): Asked => {
    const { sql: text, parameters } = (statement as RawBuilder<unknown>).compile(tx);
    return { text, values: [...parameters] };
  });
  const told = await askTogether(tx, asked);
  return told.map(({ rows }) => rows) as { [K in keyof Rows]: Rows[K][] };
}

/** @returns what came of each statement, in their order */
export async function askTogether(tx: Tx, asked: readonly Asked[]): Promise<Told[]> {
  return (await tx.executeQuery<Told>(CompiledQuery.raw(TOGETHER, [...asked]))).rows;
}
