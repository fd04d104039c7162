import { CompiledQuery, type QueryResult, type RawBuilder, sql } from 'kysely';
import { type PipelineQuery, type StatementQuery, statementOf } from './connection.ts';
import type { Db, Tx } from './db.ts';
import { preparedName, type StatementResult } from './pipeline.ts';

/** A statement that each connection parses and plans once, and runs under its name from then on. */
export class PreparedStatement<Row> {
  readonly #query: RawBuilder<Row>;
  readonly #isDeferred: boolean;

  constructor(query: RawBuilder<Row>, isDeferred: boolean) {
    this.#query = query;
    this.#isDeferred = isDeferred;
  }

  /** For `pipeline`, and for `executeQuery` of Kysely. */
  compile(db: Db): CompiledQuery<Row> {
    const compiled = this.#query.compile(db);
    const { sql: text, parameters: values } = compiled;
    const statement = { name: preparedName(text), text, values, isDeferred: this.#isDeferred };
    const query: StatementQuery<Row> = { ...compiled, statement };
    return query;
  }

  async execute(db: Db): Promise<QueryResult<Row>> {
    return await db.executeQuery(this.compile(db));
  }
}

/**
 * Writes a prepared statement, as `sql` does any other. For the hot path, and only for statements whose text never
 * changes, which name their columns (a `*` would break in running processes when a migration adds one), and whose one
 * good plan is an index look-up or an insert, however full the tables are.
 *
 * @example const { rows } = await prepared<Row>`select a, b from note where id = ${id}`.execute(db);
 */
export function prepared<Row = unknown>(
  text: TemplateStringsArray,
  ...values: unknown[]
): PreparedStatement<Row> {
  return new PreparedStatement(sql<Row>(text, ...values), false);
}

/**
 * Writes a prepared statement whose result nobody awaits: it is sent with the next statement of its transaction, and
 * where it fails, that one fails. It resolves at once, without rows and counts.
 *
 * @example await deferred`insert into note (id) values (${id})`.execute(tx);
 */
export function deferred(text: TemplateStringsArray, ...values: unknown[]): PreparedStatement<unknown> {
  return new PreparedStatement(sql(text, ...values), true);
}

/**
 * Sends statements of a transaction in one trip. They run in their order, which is also that of what they lock, and each
 * sees what was committed when its turn came.
 *
 * @returns the rows of each
 * @example const [[note], tags] = await pipeline(tx, prepared<Note>`select …`, prepared<Tag>`select …`);
 */
export async function pipeline<Rows extends unknown[]>(
  tx: Tx,
  ...statements: { [K in keyof Rows]: { compile(db: Db): CompiledQuery<Rows[K]> } }
): Promise<{ [K in keyof Rows]: Rows[K][] }> {
  const sent = statements.map((statement) => statementOf(statement.compile(tx)));
  const query: PipelineQuery = { ...CompiledQuery.raw(''), statements: sent };
  const { rows: results } = await tx.executeQuery<StatementResult>(query);
  return results.map(({ rows }) => rows) as { [K in keyof Rows]: Rows[K][] };
}
