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

/** What came of one of them; nothing is told of an unawaited one. */
export type Told = Pick<pg.QueryResult, 'command' | 'rowCount' | 'rows'>;

/** A statement of a trip. */
interface Step {
  config: pg.QueryConfig;
  /** Nobody waits for its answer. */
  isSilent: boolean;
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

/** One trip: statements that the connection has prepared, and a last one that it need not have. */
export class SharedTrip extends BaseQuery {
  /** All but the last. */
  readonly before: readonly pg.QueryConfig[];
  readonly #steps: readonly Step[];
  #completed = 0;

  /** @param steps the last one is not silent. The answer is the result of the one that is not, or a list of theirs */
  constructor(steps: readonly Step[], callback: Callback) {
    const last = steps.at(-1);
    if (last === undefined || last.isSilent)
      throw new Error('a trip ends with a statement that is waited for');
    super(last.config, callback);
    this.before = steps.slice(0, -1).map(({ config }) => config);
    this.#steps = steps;
  }

  override prepare(connection: Wire): void {
    for (const { config, isSilent } of this.#steps.slice(0, -1)) {
      const { name = '', values = [] } = config;
      connection.bind({ statement: name, values, valueMapper: utils.prepareValue });
      if (!isSilent) connection.describe({ type: 'P', name: '' });
      connection.execute({});
    }
    super.prepare(connection);
  }

  override handleCommandComplete(message: unknown, connection: Wire): void {
    if (this.#steps[this.#completed]?.isSilent === false) super.handleCommandComplete(message, connection);
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
const NOTHING: Told = { command: '', rowCount: 0, rows: [] };
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

  /** A trip ends with a statement that the connection has not prepared yet. @returns what came of each, in their order */
  async #join(asked: readonly Asked[]): Promise<{ rows: Told[] }> {
    const rows: Told[] = [];
    let trip: Step[] = [];
    for (const { text, values } of asked) {
      // Even without values it is one statement.
      const config = Object.assign(keptConfig(text, values), { queryMode: 'extended' });
      const isPrepared = this.#prepared.has(config.name ?? '');
      trip.push({ config, isSilent: isPrepared && isUnawaited(text) });
      if (isPrepared) continue;
      rows.push(...(await this.#ask(trip)));
      trip = [];
    }
    if (trip.length > 0) rows.push(...(await this.#ask(trip)));
    return { rows };
  }

  async #ask(steps: readonly Step[]): Promise<Told[]> {
    const last = steps.findLastIndex(({ isSilent }) => !isSilent);
    const later = steps.slice(last + 1).map(({ config }) => config);
    const answers = last < 0 ? [] : await this.#together(await this.#takeHeld(), steps.slice(0, last + 1));
    this.#held.push(...later);
    return steps.map(({ isSilent }) => (isSilent ? undefined : answers.shift()) ?? NOTHING);
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
    const held = await this.#takeHeld();
    if (held.length === 0) return await this.#alone(last);
    const [answer] = await this.#together(held, [{ config: last, isSilent: false }]);
    return answer;
  }

  async #takeHeld(): Promise<readonly pg.QueryConfig[]> {
    const held = this.#held;
    this.#held = [];
    // BEGIN is the only one that is held before the connection has prepared it.
    if (held[0]?.text === BEGIN && !this.#prepared.has(BEGIN)) await this.#alone(held.shift());
    return held;
  }

  async #alone(config: pg.QueryConfig | undefined): Promise<unknown> {
    const result = await this.#query(config);
    if (config?.name !== undefined) this.#prepared.add(config.name);
    return result;
  }

  /** @returns what came of those that are not silent */
  async #together(held: readonly pg.QueryConfig[], asked: readonly Step[]): Promise<Told[]> {
    const steps = [...held.map((config) => ({ config, isSilent: true })), ...asked];
    const last = steps.at(-1)?.config;
    const answer = await new Promise((resolve, reject) => {
      const trip: SharedTrip = new SharedTrip(steps, (error, told) => {
        if (error === null || error === undefined) return resolve(told);
        if (last?.text === 'commit' && error instanceof pg.DatabaseError && !trip.reachedLast)
          neverCommitted.add(error);
        reject(error);
      });
      void this.#query(trip);
    });
    if (last?.name !== undefined) this.#prepared.add(last.name);
    return [answer].flat() as Told[];
  }
}

/** Has the statements of a connection's transactions share trips. */
export function shareTrips(client: pg.ClientBase): void {
  const trips = new Trips(client.query.bind(client) as Query);
  Object.assign(client, { query: trips.query.bind(trips) });
}
