import pg from 'pg';
import utils from 'pg/lib/utils.js';
import { isUnawaited, keptConfig } from './kept-plans.ts';

// Statements of a transaction share trips to the server: BEGIN goes out with the first one, and what nobody waits for
// with the next one that somebody does, COMMIT at the latest. Reads that do not need each other's answers go `together`.
// All of a trip stands before one Sync: where one fails the server skips the others, so none of them is ever run without
// those before it; and each sees what was committed when those before it were done, locks that they waited for included.

const BEGIN = 'begin';
/** Stands for the statements that come as its values, as Kysely sends one text. */
export const TOGETHER = '/* together */';

/** One of them. */
export interface Asked {
  text: string;
  values: unknown[];
}

/** What pg's own Query does on the wire, which its types leave out. */
interface Wire {
  bind(message: { statement?: string; values?: unknown[]; valueMapper?: (value: unknown) => unknown }): void;
  describe(message: { type: 'P'; name: string }): void;
  execute(message: object): void;
}
interface WireQuery {
  prepare(connection: Wire): void;
  handleCommandComplete(message: unknown, connection: Wire): void;
}
type Callback = (error: Error | null, result?: unknown) => void;
const BaseQuery = pg.Query as unknown as new (config: pg.QueryConfig, callback: Callback) => WireQuery;

/** One trip: statements that the connection has prepared, then those whose answers are waited for. */
export class SharedTrip extends BaseQuery {
  /** All but the last. */
  readonly before: readonly pg.QueryConfig[];
  readonly #silent: number;
  #completed = 0;

  /** @param asked all but the last are prepared. With one the answer is its result, with more a list of them */
  constructor(silent: readonly pg.QueryConfig[], asked: readonly pg.QueryConfig[], callback: Callback) {
    const [last] = asked.slice(-1);
    if (last === undefined) throw new Error('a trip ends with a statement');
    super(last, callback);
    this.before = [...silent, ...asked.slice(0, -1)];
    this.#silent = silent.length;
  }

  override prepare(connection: Wire): void {
    for (const [i, { name = '', values = [] }] of this.before.entries()) {
      connection.bind({ statement: name, values, valueMapper: utils.prepareValue });
      if (i >= this.#silent) connection.describe({ type: 'P', name: '' });
      connection.execute({});
    }
    super.prepare(connection);
  }

  override handleCommandComplete(message: unknown, connection: Wire): void {
    if (this.#completed >= this.#silent) super.handleCommandComplete(message, connection);
    this.#completed += 1;
  }

  get reachedLast(): boolean {
    return this.#completed >= this.before.length;
  }
}

const neverCommitted = new WeakSet<object>();

/** Whether the server has skipped a COMMIT, as a statement of its trip failed before it. */
export function isNeverCommitted(error: unknown): boolean {
  return typeof error === 'object' && error !== null && neverCommitted.has(error);
}

type Query = (...args: unknown[]) => Promise<unknown>;
const answered = (command: string) => Promise.resolve({ command, rowCount: 0, rows: [] });

/** The statements of one connection, of which it holds some back within a transaction. */
class Trips {
  readonly #query: Query;
  readonly #prepared = new Set<string>();
  #isInTransaction = false;
  #held: pg.QueryConfig[] = [];

  constructor(query: Query) {
    this.#query = query;
  }

  query(text: unknown, values: unknown, ...rest: unknown[]): Promise<unknown> {
    if (text === BEGIN) return this.#begin();
    if (!this.#isInTransaction || typeof text !== 'string') return this.#query(text, values, ...rest);
    if (text === 'commit' || text === 'rollback') return this.#end(text);
    if (text === TOGETHER) return this.#join(values as Asked[]);
    // Without values it may be several statements, which only the simple protocol takes.
    if (!Array.isArray(values) || values.length === 0) return this.#flush().then(() => this.#query(text));
    const config = keptConfig(text, values);
    if (!isUnawaited(text) || !this.#prepared.has(config.name ?? '')) return this.#send(config);
    this.#held.push(config);
    return answered('INSERT');
  }

  /** Those that the connection has not prepared yet go one after the other. */
  async #join(asked: readonly Asked[]): Promise<{ rows: unknown[][] }> {
    const configs = asked.map(({ text, values }) => keptConfig(text, values));
    const results: { rows: unknown[] }[] = [];
    if (configs.every(({ name }) => this.#prepared.has(name ?? ''))) {
      const held = this.#held;
      this.#held = [];
      // A list where there are more than one.
      results.push(...([await this.#together(held, configs)].flat() as { rows: unknown[] }[]));
    } else for (const config of configs) results.push((await this.#send(config)) as { rows: unknown[] });
    return { rows: results.map(({ rows }) => rows) };
  }

  #begin(): Promise<unknown> {
    this.#isInTransaction = true;
    this.#held = [{ name: BEGIN, text: BEGIN, values: [] }];
    return answered('BEGIN');
  }

  #end(command: 'commit' | 'rollback'): Promise<unknown> {
    this.#isInTransaction = false;
    const [first, ...others] = this.#held;
    const hasBegun = first?.text !== BEGIN;
    // A transaction that did nothing, or nothing that anybody has seen, never was.
    if (!hasBegun && (others.length === 0 || command === 'rollback')) return answered(command.toUpperCase());
    if (command === 'commit') return this.#send({ name: command, text: command, values: [] });
    this.#held = [];
    return this.#query(command);
  }

  async #flush(): Promise<void> {
    const last = this.#held.pop();
    if (last !== undefined) await this.#send(last);
  }

  async #send(last: pg.QueryConfig): Promise<unknown> {
    const held = this.#held;
    this.#held = [];
    // BEGIN is the only one that is held before the connection has prepared it.
    if (held[0]?.text === BEGIN && !this.#prepared.has(BEGIN)) await this.#alone(held.shift());
    return held.length === 0 ? await this.#alone(last) : await this.#together(held, [last]);
  }

  async #alone(config: pg.QueryConfig | undefined): Promise<unknown> {
    const result = await this.#query(config);
    if (config?.name !== undefined) this.#prepared.add(config.name);
    return result;
  }

  async #together(silent: readonly pg.QueryConfig[], asked: readonly pg.QueryConfig[]): Promise<unknown> {
    const last = asked.at(-1);
    const result = await new Promise((resolve, reject) => {
      const trip: SharedTrip = new SharedTrip(silent, asked, (error, answer) => {
        if (error === null || error === undefined) return resolve(answer);
        if (last?.text === 'commit' && error instanceof pg.DatabaseError && !trip.reachedLast)
          neverCommitted.add(error);
        reject(error);
      });
      void this.#query(trip);
    });
    if (last?.name !== undefined) this.#prepared.add(last.name);
    return result;
  }
}

/** Has the statements of a connection's transactions share trips. */
export function shareTrips(client: pg.ClientBase): void {
  const trips = new Trips(client.query.bind(client) as Query);
  Object.assign(client, { query: trips.query.bind(trips) });
}
