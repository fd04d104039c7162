import {
  AbortedTransactionError,
  type CompiledQuery,
  type DatabaseConnection,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';
import pg from 'pg';
import { COUNTED, Pipeline, preparedName, type Statement, type StatementResult } from './pipeline.ts';

/** A compiled query with its options for sending. */
export interface StatementQuery<Row> extends CompiledQuery<Row> {
  readonly statement: Statement;
}

/** Several statements for one round trip, as one Kysely query. Its rows are their results. */
export interface PipelineQuery extends CompiledQuery<StatementResult> {
  readonly statements: readonly Statement[];
}

const neverCommitted = new WeakSet<object>();

/** Whether the error proves that the transaction was not committed. */
export function isNeverCommitted(error: unknown): boolean {
  return typeof error === 'object' && error !== null && neverCommitted.has(error);
}

/** The error message of `pg` for a statement without an answer within `query_timeout`. */
const UNANSWERED = 'Query read timeout';

const plain = (text: string): Statement => ({ name: preparedName(text), text, values: [] });
const COMMIT = plain('commit');

/**
 * A connection of the pool. A transaction needs as few round trips as possible: BEGIN is sent with the first statement,
 * deferred statements with the next awaited one, or with COMMIT at the latest. A transaction without statements sends
 * nothing. After an error only ROLLBACK is sent.
 */
export class PooledConnection implements DatabaseConnection {
  readonly #client: pg.PoolClient;
  /** Names of its prepared statements. */
  readonly #prepared = new Set<string>();
  #transaction: 'none' | 'unsent' | 'open' = 'none';
  /** Sent with the next statement. If nothing of the transaction has been sent, the first one is BEGIN. */
  #deferred: Statement[] = [];
  /** The error that ended the transaction. */
  #failure: { error: unknown } | undefined;
  /** The pool must close it: a statement would wait behind an unanswered one, or run in the transaction of that. */
  #isLost = false;

  constructor(client: pg.PoolClient) {
    this.#client = client;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    // The caller declares the row type, as everywhere in Kysely.
    return (await this.#execute(query)) as QueryResult<Row>;
  }

  /** Required by Kysely's interface; streams are not used. */
  streamQuery(): AsyncIterableIterator<never> {
    throw new Error('this driver has no streams');
  }

  begin({ isolationLevel, accessMode }: TransactionSettings): void {
    const level = isolationLevel === undefined ? '' : ` isolation level ${isolationLevel}`;
    const access = accessMode === undefined ? '' : ` ${accessMode}`;
    this.#transaction = 'unsent';
    this.#deferred = [plain(`begin${level}${access}`)];
  }

  async commit(): Promise<void> {
    const isEmpty = this.#transaction === 'unsent' && this.#deferred.length === 1;
    if (!isEmpty) await this.#sendCommit();
    this.#end();
  }

  /** Never throws: if ROLLBACK fails, the pool closes the connection, which also rolls back. */
  async rollback(): Promise<void> {
    const isSent = this.#transaction === 'open';
    this.#end();
    if (!isSent || this.#isLost) return;
    try {
      await this.#client.query('rollback');
    } catch {
      this.#isLost = true;
    }
  }

  release(): void {
    this.#client.release(this.#isLost);
  }

  async #execute(query: CompiledQuery): Promise<QueryResult<unknown>> {
    if (isPipelineQuery(query)) return { rows: await this.#send(query.statements) };
    const statement = statementOf(query);
    if (statement.isDeferred === true && this.#transaction !== 'none') {
      this.#deferred.push(statement);
      return { rows: [] };
    }
    // A text without parameters may hold several statements, such as a migration. Only the simple protocol accepts
    // that.
    if (statement.name === undefined && statement.values.length === 0)
      return await this.#sendText(statement.text);
    const [result] = await this.#send([statement]);
    return result ?? { rows: [] };
  }

  /** @returns the results of `statements`, in their order */
  async #send(statements: readonly Statement[]): Promise<StatementResult[]> {
    const results = await this.#settle(this.#submit(statements).results);
    return results.slice(results.length - statements.length);
  }

  async #sendText(text: string): Promise<QueryResult<unknown>> {
    if (this.#deferred.length > 0) await this.#send([]);
    this.#assertUsable();
    const answer: pg.QueryResult | pg.QueryResult[] = await this.#settle(this.#client.query(text));
    const { command, rowCount, rows } = [answer].flat().at(-1) ?? { command: '', rowCount: 0, rows: [] };
    return COUNTED.has(command) ? { rows, numAffectedRows: BigInt(rowCount ?? 0) } : { rows };
  }

  async #sendCommit(): Promise<void> {
    let pipeline: Pipeline | undefined;
    try {
      pipeline = this.#submit([COMMIT]);
      const results = await this.#settle(pipeline.results);
      if (results.at(-1)?.command === 'COMMIT') return;
    } catch (error) {
      const isSkipped =
        pipeline === undefined || (error instanceof pg.DatabaseError && !pipeline.reachedLast);
      if (isSkipped && error instanceof Error) neverCommitted.add(error);
      throw error;
    }
    // The server rolled back because a statement of the transaction had failed.
    this.#end();
    const error = new AbortedTransactionError();
    neverCommitted.add(error);
    throw error;
  }

  #submit(statements: readonly Statement[]): Pipeline {
    this.#assertUsable();
    const pipeline = new Pipeline([...this.#deferred, ...statements], this.#prepared);
    this.#deferred = [];
    if (this.#transaction === 'unsent') this.#transaction = 'open';
    return this.#client.query(pipeline);
  }

  async #settle<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (error instanceof Error) {
        // The stack of this call, instead of the socket's.
        Error.captureStackTrace(error);
        this.#isLost ||= error.message === UNANSWERED;
      }
      if (this.#isLost || this.#transaction !== 'none') this.#failure ??= { error };
      throw error;
    }
  }

  #assertUsable(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  #end(): void {
    this.#transaction = 'none';
    this.#deferred = [];
    if (!this.#isLost) this.#failure = undefined;
  }
}

const isPipelineQuery = (query: CompiledQuery): query is PipelineQuery => 'statements' in query;
const isStatementQuery = (query: CompiledQuery): query is StatementQuery<unknown> => 'statement' in query;

/** Other Kysely queries are sent unprepared. */
export function statementOf(query: CompiledQuery): Statement {
  return isStatementQuery(query) ? query.statement : { text: query.sql, values: query.parameters };
}
