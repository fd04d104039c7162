import { CompiledQuery, type QueryResult, type RawBuilder, sql } from 'kysely';
import { type PipelineQuery, type StatementQuery, statementOf } from '../connection.ts';
import type { Db, Tx } from '../db.ts';
import { preparedName, type StatementResult } from '../pipeline.ts';

/** A statement that each connection parses and plans once, and then runs by its name. */
export class PreparedStatement<Row> {
  readonly #query: Pick<RawBuilder<Row>, 'compile'>;
  readonly #isDeferred: boolean;

  constructor(query: Pick<RawBuilder<Row>, 'compile'>, isDeferred: boolean) {
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
 * A tag like `sql`, for prepared statements on the hot path. Conditions: the text never changes; the columns are named
 * (a `*` would break in running processes when a migration adds one); the best plan is an index scan or an insert for
 * any table size.
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
 * A prepared statement whose result is not awaited. It is sent with the next statement of its transaction; if it fails,
 * that one fails. `execute` resolves at once, without rows and counts.
 *
 * @example await deferred`insert into note (id) values (${id})`.execute(tx);
 */
export function deferred(text: TemplateStringsArray, ...values: unknown[]): PreparedStatement<unknown> {
  return new PreparedStatement(sql(text, ...values), true);
}

/** As `deferred`, for a text that was made before, with `$1` and so on: making one for each run costs more than sending it. */
export function deferredText(text: string, values: readonly unknown[]): PreparedStatement<unknown> {
  return new PreparedStatement({ compile: () => CompiledQuery.raw(text, [...values]) }, true);
}

/**
 * Sends statements of a transaction in one round trip. They run, and take their locks, in their order. Each sees
 * everything committed before it starts.
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
