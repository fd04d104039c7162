import type { Db } from '../platform/db/index.ts';
import { readStream } from './publish-events.ts';

const PAGE_SIZE = 100;

export type StreamRow = Awaited<ReturnType<typeof readStream>>[number];

/** What was read after a place: all that is there up to a number. */
interface StreamPage {
  rows: StreamRow[];
  upTo: bigint;
}

/** The stream of one store as far as this process knows it, for all who listen to it here. */
export class StoreFeed {
  readonly merchantId: string;
  readonly storeId: string;
  listeners = 0;
  readonly #db: Db;
  readonly #waiting = new Set<() => void>();
  /** Those who stand at the same place read once. */
  readonly #reading = new Map<bigint, Promise<StreamPage>>();
  #end = 0n;

  constructor(db: Db, { merchantId, storeId }: { merchantId: string; storeId: string }) {
    this.#db = db;
    this.merchantId = merchantId;
    this.storeId = storeId;
  }

  /** The last number that is known to have been given. */
  get end(): bigint {
    return this.#end;
  }

  moveTo(end: bigint): void {
    if (end <= this.#end) return;
    this.#end = end;
    for (const wake of this.#waiting) wake();
  }

  /** What follows a number below the end. Too old to be kept: nothing, and yet all there is up to `upTo`. */
  read(after: bigint): Promise<StreamPage> {
    const reading = this.#reading.get(after) ?? this.#read(after);
    this.#reading.set(after, reading);
    return reading;
  }

  async #read(after: bigint): Promise<StreamPage> {
    // Known before the reading begins: what comes meanwhile is not in it for sure.
    const upTo = this.#end;
    const { merchantId, storeId } = this;
    try {
      return { rows: await readStream(this.#db, { merchantId, storeId, after }, PAGE_SIZE), upTo };
    } finally {
      this.#reading.delete(after);
    }
  }

  /** Waits until the end is another one than that. @returns false where the time is over first */
  async moved(seen: bigint, leaving: AbortSignal, timeoutMs: number): Promise<boolean> {
    if (this.#end !== seen || leaving.aborted) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const wake = () => resolve(true);
    const timer = setTimeout(() => resolve(false), timeoutMs);
    this.#waiting.add(wake);
    leaving.addEventListener('abort', wake);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(wake);
      leaving.removeEventListener('abort', wake);
    }
  }
}
