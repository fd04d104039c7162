import { setTimeout as sleep } from 'node:timers/promises';
import type { Semaphore } from '../../jobs/semaphore.ts';
import type { Db } from '../db.ts';

export interface BatchLoaderOptions<Item, Result> {
  /** Loads several items of one key, results in the order of the items. A throw rejects all of them. */
  loadBatch: (key: string, items: readonly Item[]) => Promise<readonly Result[]>;
  /** Maximum number of items in a batch (200). */
  maxBatch?: number;
  /**
   * Calls join the batch that runs next for their key; while one is running they wait for it up to this long, then
   * start another beside it, because the first may hang. Undefined: batches of one key never overlap.
   */
  overlapAfterMs?: number;
  /** Limits the number of concurrent batches over all keys. A waiting batch keeps collecting items. */
  semaphore?: Semaphore;
  /**
   * Least time between the starts of two batches of a key (0), up to four times that while batches are slow, unless a
   * full batch is waiting. The first one starts at once.
   */
  intervalMs?: number;
}

const MAX_BATCH = 200;
/** Batches with an interval use at most about a fifth of the time. */
const REST_TIMES = 4;

/** For reads that are quick one by one. */
export const READ_OVERLAP_AFTER_MS = 20;

interface Entry<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** The waiting calls of one key, and the number of its batches that run or wait out their interval. */
interface Lane<Item, Result> {
  waiting: Entry<Item, Result>[];
  underWay: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Loads concurrent calls in one batch (a "DataLoader" whose batches may run under a semaphore or at an interval). A
 * batch holds the calls of one turn of the event loop, and the calls made while a batch of the same key was running. It
 * starts after each of its calls, so no caller gets an older result than from a load of its own.
 * Never call it inside a transaction: the batch could wait for the connection that the transaction holds.
 *
 * @example const merchants = new BatchLoader<string, Row>({ loadBatch: (_key, ids) => readMerchants(db, ids) });
 */
export class BatchLoader<Item, Result> {
  readonly #options: BatchLoaderOptions<Item, Result>;
  readonly #maxBatch: number;
  readonly #lanes = new Map<string, Lane<Item, Result>>();

  constructor(options: BatchLoaderOptions<Item, Result>) {
    this.#options = options;
    this.#maxBatch = options.maxBatch ?? MAX_BATCH;
  }

  load(key: string, item: Item): Promise<Result> {
    const { overlapAfterMs } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const lane = this.#laneOf(key);
    lane.waiting.push({ item, resolve, reject });
    if (lane.underWay > 0) {
      if (overlapAfterMs !== undefined)
        lane.timer ??= setTimeout(() => this.#begin(key, lane), overlapAfterMs);
    } else if (lane.waiting.length === 1) setImmediate(() => this.#begin(key, lane));
    return promise;
  }

  #laneOf(key: string): Lane<Item, Result> {
    const lane = this.#lanes.get(key) ?? { waiting: [], underWay: 0, timer: undefined };
    this.#lanes.set(key, lane);
    return lane;
  }

  #begin(key: string, lane: Lane<Item, Result>): void {
    clearTimeout(lane.timer);
    lane.timer = undefined;
    const mayOverlap = this.#options.overlapAfterMs !== undefined;
    const loads = mayOverlap ? Math.ceil(lane.waiting.length / this.#maxBatch) : 1;
    for (let n = 0; n < loads; n++) void this.#run(key, lane);
  }

  async #run(key: string, lane: Lane<Item, Result>): Promise<void> {
    lane.underWay += 1;
    const release = this.#options.semaphore && (await this.#options.semaphore.acquire());
    const begunMs = performance.now();
    await this.#load(key, lane.waiting.splice(0, this.#maxBatch));
    release?.();
    const restMs = this.#restMs(performance.now() - begunMs);
    if (restMs > 0 && lane.waiting.length < this.#maxBatch) await sleep(restMs);
    lane.underWay -= 1;
    if (lane.underWay > 0) return;
    if (lane.waiting.length > 0) this.#begin(key, lane);
    else this.#lanes.delete(key);
  }

  /** When batches are slow, fewer and larger ones relieve the database. */
  #restMs(tookMs: number): number {
    const { intervalMs = 0 } = this.#options;
    if (intervalMs === 0) return 0;
    return Math.min(Math.max(intervalMs - tookMs, tookMs * REST_TIMES), intervalMs * REST_TIMES);
  }

  async #load(key: string, entries: readonly Entry<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#options.loadBatch(
        key,
        entries.map(({ item }) => item),
      );
      if (results.length !== entries.length)
        throw new Error('loadBatch must return one result for each item');
      for (const [i, result] of results.entries()) entries[i]?.resolve(result);
    } catch (error) {
      for (const { reject } of entries) reject(error);
    }
  }
}

/** One loader per owner, such as a pool. */
export function loaderPer<Owner extends object, Item, Result>(
  optionsOf: (owner: Owner) => BatchLoaderOptions<Item, Result>,
): (owner: Owner) => BatchLoader<Item, Result> {
  const known = new WeakMap<Owner, BatchLoader<Item, Result>>();
  return (owner) => {
    const loader = known.get(owner) ?? new BatchLoader(optionsOf(owner));
    known.set(owner, loader);
    return loader;
  };
}

/** One loader of reads per pool. */
export function readLoaderPerPool<Item, Result>(
  loadFrom: (db: Db) => BatchLoaderOptions<Item, Result>['loadBatch'],
): (db: Db) => BatchLoader<Item, Result> {
  return loaderPer((db) => ({ loadBatch: loadFrom(db), overlapAfterMs: READ_OVERLAP_AFTER_MS }));
}

/** One loader of rows by id per pool; its result is undefined for an id without a row. */
export function rowLoaderPerPool<Row>(
  read: (db: Db, key: string, ids: readonly string[]) => Promise<readonly Row[]>,
  idOf: (row: Row) => string,
): (db: Db) => BatchLoader<string, Row | undefined> {
  return readLoaderPerPool((db) => async (key, ids) => {
    const found = new Map((await read(db, key, ids)).map((row) => [idOf(row), row]));
    return ids.map((id) => found.get(id));
  });
}
