import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from './db.ts';
import type { Room } from './room.ts';

export interface GatherOptions<Ask, Answer> {
  /** Answers many asks of one key together, in their order. What it throws is thrown to each of them. */
  load: (key: string, asks: readonly Ask[]) => Promise<readonly Answer[]>;
  /** Asks of one load at most (200). */
  most?: number;
  /**
   * Asks wait so long for a load of their key that is under way, then for none: it may hang. What is beyond the most of
   * one goes beside it. Undefined: loads of one key never overlap.
   */
  patienceMs?: number;
  /** How many loads may be under way at once, of all keys; what waits for a place gathers meanwhile. */
  room?: Room;
  /**
   * Two loads of a key begin at least so far apart (0), up to four times that where each takes long, unless a whole one
   * waits. The first one begins at once.
   */
  everyMs?: number;
}

const MOST = 200;
/** Of the time, loads that begin at intervals take at most about a fifth. */
const REST_TIMES = 4;

/** For reads of which each is quick. */
export const READ_PATIENCE_MS = 20;

interface Entry<Ask, Answer> {
  ask: Ask;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

/** What waits for one key, and how many loads of it are under way or rest. */
interface Lane<Ask, Answer> {
  waiting: Entry<Ask, Answer>[];
  underWay: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Asks that come at the same time are answered by one load: those of one turn of the loop, and those that come while a
 * load of their key is under way. A load begins after each ask that it answers, so that nobody hears anything older than
 * a call of its own would have told. Never asked within a transaction, whose connection a load could wait for.
 */
export class Gather<Ask, Answer> {
  readonly #options: GatherOptions<Ask, Answer>;
  readonly #most: number;
  readonly #lanes = new Map<string, Lane<Ask, Answer>>();

  constructor(options: GatherOptions<Ask, Answer>) {
    this.#options = options;
    this.#most = options.most ?? MOST;
  }

  ask(key: string, ask: Ask): Promise<Answer> {
    const { patienceMs } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const lane = this.#laneOf(key);
    lane.waiting.push({ ask, resolve, reject });
    if (lane.underWay > 0) {
      if (patienceMs !== undefined) lane.timer ??= setTimeout(() => this.#begin(key, lane), patienceMs);
    } else if (lane.waiting.length === 1) setImmediate(() => this.#begin(key, lane));
    return promise;
  }

  #laneOf(key: string): Lane<Ask, Answer> {
    const lane = this.#lanes.get(key) ?? { waiting: [], underWay: 0, timer: undefined };
    this.#lanes.set(key, lane);
    return lane;
  }

  #begin(key: string, lane: Lane<Ask, Answer>): void {
    clearTimeout(lane.timer);
    lane.timer = undefined;
    const mayOverlap = this.#options.patienceMs !== undefined;
    const loads = mayOverlap ? Math.ceil(lane.waiting.length / this.#most) : 1;
    for (let n = 0; n < loads; n++) void this.#run(key, lane);
  }

  async #run(key: string, lane: Lane<Ask, Answer>): Promise<void> {
    lane.underWay += 1;
    const leave = this.#options.room && (await this.#options.room.enter());
    const begunMs = performance.now();
    await this.#load(key, lane.waiting.splice(0, this.#most));
    leave?.();
    const restMs = this.#restMs(performance.now() - begunMs);
    if (restMs > 0 && lane.waiting.length < this.#most) await sleep(restMs);
    lane.underWay -= 1;
    if (lane.underWay > 0) return;
    if (lane.waiting.length > 0) this.#begin(key, lane);
    else this.#lanes.delete(key);
  }

  /** Where loads take longer than they should, fewer and larger ones relieve whoever is busy. */
  #restMs(tookMs: number): number {
    const { everyMs = 0 } = this.#options;
    if (everyMs === 0) return 0;
    return Math.min(Math.max(everyMs - tookMs, tookMs * REST_TIMES), everyMs * REST_TIMES);
  }

  async #load(key: string, entries: readonly Entry<Ask, Answer>[]): Promise<void> {
    try {
      const answers = await this.#options.load(
        key,
        entries.map(({ ask }) => ask),
      );
      if (answers.length !== entries.length) throw new Error('a load answers each ask once');
      for (const [i, { resolve }] of entries.entries()) resolve(answers[i] as Answer);
    } catch (error) {
      for (const { reject } of entries) reject(error);
    }
  }
}

/** One gather for each owner, such as a pool. */
export function gatherBy<Owner extends object, Ask, Answer>(
  optionsOf: (owner: Owner) => GatherOptions<Ask, Answer>,
): (owner: Owner) => Gather<Ask, Answer> {
  const known = new WeakMap<Owner, Gather<Ask, Answer>>();
  return (owner) => {
    const gather = known.get(owner) ?? new Gather(optionsOf(owner));
    known.set(owner, gather);
    return gather;
  };
}

/** Reads of one pool. */
export function gatherReads<Ask, Answer>(
  loadFrom: (db: Db) => GatherOptions<Ask, Answer>['load'],
): (db: Db) => Gather<Ask, Answer> {
  return gatherBy((db) => ({ load: loadFrom(db), patienceMs: READ_PATIENCE_MS }));
}

/** Reads of rows of one pool by their ids; undefined where there is none. */
export function gatherRows<Row>(
  read: (db: Db, key: string, ids: readonly string[]) => Promise<readonly Row[]>,
  idOf: (row: Row) => string,
): (db: Db) => Gather<string, Row | undefined> {
  return gatherReads((db) => async (key, ids) => {
    const found = new Map((await read(db, key, ids)).map((row) => [idOf(row), row]));
    return ids.map((id) => found.get(id));
  });
}
