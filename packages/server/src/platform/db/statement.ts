import { CompiledQuery, type QueryResult, type RawBuilder, sql } from 'kysely';
import type { PipelineQuery, StatementQuery } from './connection.ts';
import type { Db, Tx } from './db.ts';
import { preparedName, type Statement, type StatementResult } from './pipeline.ts';

/** A statement that each connection parses and plans once, and runs under its name from then on. */
export class PreparedStatement<Row> {
  readonly #query: RawBuilder<Row>;
  readonly #isDeferred: boolean;

  constructor(query: RawBuilder<Row>, isDeferred: boolean) {
    this.#query = query;
    this.#isDeferred = isDeferred;
  }

  async execute(db: Db): Promise<QueryResult<Row>> {
    const query: StatementQuery<Row> = { ...this.#query.compile(db), statement: this.statementFor(db) };
    return await db.executeQuery(query);
  }

  statementFor(db: Db): Statement {
    const { sql: text, parameters: values } = this.#query.compile(db);
    return { name: preparedName(text), text, values, isDeferred: this.#isDeferred };
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
 * Sends prepared statements of a transaction in one trip. They run in their order, which is also that of what they lock,
 * and each sees what was committed when its turn came.
 *
 * @returns the rows of each
 */
export async function pipeline<Rows extends unknown[]>(
  tx: Tx,
  ...statements: { [K in keyof Rows]: PreparedStatement<Rows[K]> }
): Promise<{ [K in keyof Rows]: Rows[K][] }> {
  const results = await sendPipeline(
    tx,
    statements.map((statement) => statement.statementFor(tx)),
  );
  return results.map(({ rows }) => rows) as { [K in keyof Rows]: Rows[K][] };
}

/** @returns the result of each statement, in their order */
export async function sendPipeline(tx: Tx, statements: readonly Statement[]): Promise<StatementResult[]> {
  const query: PipelineQuery = { ...CompiledQuery.raw(''), statements };
  const { rows } = await tx.executeQuery<StatementResult>(query);
  return rows;
}
