import type { RawBuilder } from 'kysely';
import type { Tx } from './db.ts';
import { markedStatement } from './kept-plans.ts';
import { sendPipeline } from './statement.ts';

/** As `pipeline`, of statements that begin with `kept`. @returns the rows of each */
export async function together<Rows extends unknown[]>(
  tx: Tx,
  ...statements: { [K in keyof Rows]: RawBuilder<Rows[K]> }
): Promise<{ [K in keyof Rows]: Rows[K][] }> {
  const marked = statements.map((statement) =>
    markedStatement((statement as RawBuilder<unknown>).compile(tx)),
  );
  const results = await sendPipeline(tx, marked);
  return results.map(({ rows }) => rows) as { [K in keyof Rows]: Rows[K][] };
}
