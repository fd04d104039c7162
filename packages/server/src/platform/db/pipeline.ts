import type { QueryResult } from 'kysely';
import pg from 'pg';
import { encodeParameter } from './parameters.ts';

// Sends several statements in one round trip, as a query class of our own: `pg` accepts any object with `submit` and
// calls its `handle…` methods with the server's messages, as for pg-cursor. The driver's own `pipeline: true` ends each
// statement with a Sync, so a statement would run and commit by itself although the BEGIN before it failed. It also
// costs 50 % more CPU (docs/decisions/0011).

export interface Statement {
  text: string;
  values: readonly unknown[];
  /** A prepared statement: each connection parses and plans it once, under this name. */
  name?: string;
  /** Sent with the next statement of its transaction; nobody awaits its result. */
  isDeferred?: boolean;
}

type Row = Record<string, unknown>;

export interface StatementResult extends QueryResult<Row> {
  /** The first word of the server's command tag, such as `INSERT`. A COMMIT may answer `ROLLBACK`. */
  command: string;
}

/** Commands whose tag ends with the number of changed rows. */
export const COUNTED = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

const names = new Map<string, string>();

/** The name of the prepared statement of a text; the same on every connection. */
export function preparedName(text: string): string {
  const name = names.get(text) ?? `prepared_${names.size}`;
  names.set(text, name);
  return name;
}

interface Column {
  name: string;
  parse: (text: string) => unknown;
}

/**
 * Statements with a single Sync at the end. If one fails, the server skips the following ones. Each statement sees
 * everything committed before it starts, and the changes of transactions for whose locks it has waited.
 */
export class Pipeline implements pg.Submittable {
  readonly statements: readonly Statement[];
  /** One result per statement, in their order; rejects with the error of the first failed one. */
  readonly results: Promise<readonly StatementResult[]>;
  /** Settles `results`. `pg` wraps it to watch `query_timeout`. */
  callback: (error: Error | null) => void;

  readonly #parameters: (string | Buffer | null)[][];
  readonly #prepared: Set<string>;
  readonly #finished: StatementResult[] = [];
  #columns: Column[] = [];
  #rows: Row[] = [];
  #undecodable: Error | null = null;

  /** @param prepared names of the connection's prepared statements; updated here */
  constructor(statements: readonly Statement[], prepared: Set<string>) {
    // A value without a text form throws here, before anything is sent.
    this.#parameters = statements.map(({ values }) => values.map(encodeParameter));
    this.#prepared = prepared;
    this.statements = statements;
    const { promise, resolve, reject } = Promise.withResolvers<readonly StatementResult[]>();
    this.results = promise;
    this.callback = (error) => (error === null ? resolve(this.#finished) : reject(error));
  }

  /** Whether the last statement ran: it does not if an earlier one fails. */
  get reachedLast(): boolean {
    return this.#finished.length >= this.statements.length - 1;
  }

  submit(connection: pg.Connection): void {
    connection.stream.cork();
    for (const [i, { text, name = '', isDeferred = false }] of this.statements.entries()) {
      if (!this.#prepared.has(name)) {
        // It may exist if only its first execution failed. Closing a statement that does not exist is no error.
        if (name !== '') connection.close({ type: 'S', name }, true);
        connection.parse({ name, text, types: [] }, true);
      }
      connection.bind({ statement: name, values: this.#parameters[i] ?? [] }, true);
      if (!isDeferred) connection.describe({ type: 'P', name: '' }, true);
      connection.execute(null, true);
    }
    connection.sync();
    connection.stream.uncork();
  }

  handleRowDescription({ fields }: { fields: readonly { name: string; dataTypeID: number }[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: pg.types.getTypeParser(dataTypeID, 'text'),
    }));
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    const row: Row = {};
    try {
      let i = 0;
      for (const { name, parse } of this.#columns) {
        const text = fields[i++] ?? null;
        row[name] = text === null ? null : parse(text);
      }
    } catch (cause) {
      this.#undecodable ??= new Error('a value of the database cannot be read', { cause });
    }
    this.#rows.push(row);
  }

  handleCommandComplete({ text }: { text: string }): void {
    const [command = '', ...counts] = text.split(' ');
    this.#finish(
      COUNTED.has(command)
        ? { command, rows: this.#rows, numAffectedRows: BigInt(counts.at(-1) ?? 0) }
        : { command, rows: this.#rows },
    );
  }

  handleEmptyQuery(): void {
    this.#finish({ command: '', rows: [] });
  }

  handleError(error: Error): void {
    // The server may not have this statement, or only an outdated plan for it: prepare it again.
    const { name } = this.statements[this.#finished.length] ?? {};
    if (name !== undefined) this.#prepared.delete(name);
    this.callback(error);
  }

  handleReadyForQuery(): void {
    this.callback(this.#undecodable);
  }

  #finish(result: StatementResult): void {
    const { name } = this.statements[this.#finished.length] ?? {};
    if (name !== undefined) this.#prepared.add(name);
    this.#finished.push(result);
    this.#columns = [];
    this.#rows = [];
  }
}
