import pg from 'pg';
import utils from 'pg/lib/utils.js';
import { isUnawaited, keptConfig } from './kept-plans.ts';

// Statements of a transaction share trips to the server: BEGIN goes out with the first one, and what nobody waits for
// with the next one that somebody does, COMMIT at the latest. All of a trip stands before one Sync: where one fails the
// server skips the others, so none of them is ever run without those before it.

const BEGIN = 'begin';

/** What pg's own Query does on the wire, which its types leave out. */
interface Wire {
  bind(message: { statement?: string; values?: unknown[]; valueMapper?: (value: unknown) => unknown }): void;
  execute(message: object): void;
}
interface WireQuery {
  prepare(connection: Wire): void;
  handleCommandComplete(message: unknown, connection: Wire): void;
}
type Callback = (error: Error | null, result?: unknown) => void;
const BaseQuery = pg.Query as unknown as new (config: pg.QueryConfig, callback: Callback) => WireQuery;

/** One trip: statements that the connection has prepared, then the one whose answer is waited for. */
export class SharedTrip extends BaseQuery {
  readonly before: readonly pg.QueryConfig[];
  #completed = 0;

  constructor(before: readonly pg.QueryConfig[], last: pg.QueryConfig, callback: Callback) {
    super(last, callback);
    this.before = before;
  }

  override prepare(connection: Wire): void {
    for (const { name = '', values = [] } of this.before) {
      connection.bind({ statement: name, values, valueMapper: utils.prepareValue });
      connection.execute({});
    }
    super.prepare(connection);
  }

  override handleCommandComplete(message: unknown, connection: Wire): void {
    if (this.reachedLast) super.handleCommandComplete(message, connection);
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
    // Without values it may be several statements, which only the simple protocol takes.
    if (!Array.isArray(values) || values.length === 0) return this.#flush().then(() => this.#query(text));
    const config = keptConfig(text, values);
    if (!isUnawaited(text) || !this.#prepared.has(config.name ?? '')) return this.#send(config);
    this.#held.push(config);
    return answered('INSERT');
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
    return held.length === 0 ? await this.#alone(last) : await this.#together(held, last);
  }

  async #alone(config: pg.QueryConfig | undefined): Promise<unknown> {
    const result = await this.#query(config);
    if (config?.name !== undefined) this.#prepared.add(config.name);
    return result;
  }

  async #together(before: readonly pg.QueryConfig[], last: pg.QueryConfig): Promise<unknown> {
    const result = await new Promise((resolve, reject) => {
      const trip: SharedTrip = new SharedTrip(before, last, (error, answer) => {
        if (error === null || error === undefined) return resolve(answer);
        if (last.text === 'commit' && error instanceof pg.DatabaseError && !trip.reachedLast)
          neverCommitted.add(error);
        reject(error);
      });
      void this.#query(trip);
    });
    if (last.name !== undefined) this.#prepared.add(last.name);
    return result;
  }
}

/** Has the statements of a connection's transactions share trips. */
export function shareTrips(client: pg.ClientBase): void {
  const trips = new Trips(client.query.bind(client) as Query);
  Object.assign(client, { query: trips.query.bind(trips) });
}
