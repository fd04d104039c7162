import type { Db } from '../platform/db/index.ts';
import { Condition } from '../platform/http/index.ts';
import { readStream } from './publish-events.ts';

const PAGE_SIZE = 100;

export type StreamRow = Awaited<ReturnType<typeof readStream>>[number];

/** A page of events; complete up to the number `upTo`. */
interface StreamPage {
  rows: StreamRow[];
  upTo: bigint;
}

/** The stream of one store in this process, shared by all of its listeners here. */
export class StoreFeed {
  readonly merchantId: string;
  readonly storeId: string;
  listeners = 0;
  readonly #db: Db;
  readonly #moved = new Condition();
  /** Reads in progress by position: listeners at the same position share one. */
  readonly #reads = new Map<bigint, Promise<StreamPage>>();
  #end = 0n;

  constructor(db: Db, { merchantId, storeId }: { merchantId: string; storeId: string }) {
    this.#db = db;
    this.merchantId = merchantId;
    this.storeId = storeId;
  }

  /** The last known number of the stream. */
  get end(): bigint {
    return this.#end;
  }

  advance(end: bigint): void {
    if (end <= this.#end) return;
    this.#end = end;
    this.#moved.notifyAll();
  }

  /** Reads after a number below the end. Deleted events leave the page empty, but complete up to `upTo`. */
  read(after: bigint): Promise<StreamPage> {
    const read = this.#reads.get(after) ?? this.#read(after);
    this.#reads.set(after, read);
    return read;
  }

  async #read(after: bigint): Promise<StreamPage> {
    // Taken before the read: events that come meanwhile may be missing from it.
    const upTo = this.#end;
    const { merchantId, storeId } = this;
    try {
      return { rows: await readStream(this.#db, { merchantId, storeId, after }, PAGE_SIZE), upTo };
    } finally {
      this.#reads.delete(after);
    }
  }

  /** Waits until the end differs from `seen`. @returns false after the timeout */
  async waitForMove(seen: bigint, leaving: AbortSignal, timeoutMs: number): Promise<boolean> {
    if (this.#end !== seen) return true;
    return await this.#moved.wait(leaving, timeoutMs);
  }
}
