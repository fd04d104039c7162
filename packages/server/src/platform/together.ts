import { CompiledQuery, type RawBuilder } from 'kysely';
import type { Tx } from './db.ts';
import { type Asked, TOGETHER } from './shared-trips.ts';

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
  const { rows } = await tx.executeQuery(CompiledQuery.raw(TOGETHER, asked));
  return rows as { [K in keyof Rows]: Rows[K][] };
}
