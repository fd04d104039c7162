import { setTimeout as sleep } from 'node:timers/promises';
import { Fail } from '../platform/fail.ts';
import type { Caller, OpenStream } from '../platform/http/index.ts';
import type { Platform } from '../platform/platform.ts';
import { listAdmittedKeys } from '../stores/index.ts';
import { encodeId } from '../tenancy/index.ts';
import { readStreamEnds } from './publish-events.ts';
import { onPublished } from './published.ts';
import { findNumber, type StreamPlace } from './queries.ts';
import { StoreFeed, type StreamRow } from './store-feed.ts';

/** Between two looks; what this process publishes itself is seen after the shorter time. */
const LOOK_EVERY_MS = 250;
const LOOK_AGAIN_MS = 10;
/** Whether the callers may still listen is asked this often. */
const CHECK_KEYS_EVERY_MS = 2_000;
const HEARTBEAT_MS = 15_000;
/** After which a client should come back to an answer that ended. */
const RETRY_MS = 1_000;
const STREAMS_PER_KEY_MAX = 10;
const STREAMS_MAX = 2_000;

interface Listener {
  merchantId: string;
  keyId: string;
  leaving: AbortController;
}

/**
 * Sends events as they are published, to as many as listen. One look at the database serves the whole process; each
 * listener goes through its store's numbers by itself and as fast as it reads, so none can miss or repeat any.
 */
export class LiveEvents {
  readonly #platform: Platform;
  readonly #feeds = new Map<string, StoreFeed>();
  readonly #listeners = new Set<Listener>();
  #isLooking = false;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** Everything after a place, without an end. @throws Fail `rate_limited` where the key has too many open */
  open(caller: Caller, place: StreamPlace): OpenStream {
    const { merchantId, storeId, keyId } = caller;
    const ofKey = [...this.#listeners].filter((listener) => listener.keyId === keyId).length;
    if (ofKey >= STREAMS_PER_KEY_MAX || this.#listeners.size >= STREAMS_MAX) {
      const message = `An API key has ${STREAMS_PER_KEY_MAX} streams open at most. Close one first.`;
      throw new Fail('rate_limited', { message, retryAfterSeconds: 1 });
    }
    const listener = { merchantId, keyId, leaving: new AbortController() };
    this.#listeners.add(listener);
    return (signal) => {
      signal.addEventListener('abort', () => listener.leaving.abort(), { once: true });
      const feed = this.#join({ merchantId, storeId }, listener);
      return this.#listen(feed, place, listener.leaving.signal);
    };
  }

  #join(store: { merchantId: string; storeId: string }, listener: Listener): StoreFeed {
    const key = `${store.merchantId}/${store.storeId}`;
    const feed = this.#feeds.get(key) ?? new StoreFeed(this.#platform.db, store);
    this.#feeds.set(key, feed);
    feed.listeners++;
    const leave = () => {
      this.#listeners.delete(listener);
      feed.listeners--;
      if (feed.listeners === 0) this.#feeds.delete(key);
    };
    listener.leaving.signal.addEventListener('abort', leave, { once: true });
    if (!this.#isLooking) void this.#lookOn();
    return feed;
  }

  async *#listen(feed: StoreFeed, place: StreamPlace, leaving: AbortSignal): AsyncGenerator<string> {
    yield `retry: ${RETRY_MS}\nid: ${place.id}\n\n`;
    try {
      for (let position = place.at; !leaving.aborted; ) {
        const { end } = feed;
        if (typeof position === 'object') {
          position = (await findNumber(this.#platform.db, feed.merchantId, position.eventId)) ?? position;
        }
        if (typeof position === 'bigint' && position < end) {
          const { rows, upTo } = await feed.read(position);
          for (const row of rows) yield textOf(row);
          position = rows.at(-1)?.number ?? upTo;
        } else if (!(await feed.moved(end, leaving, HEARTBEAT_MS))) {
          yield ':\n\n';
        }
      }
    } catch (error) {
      // The answer ends, and who listened comes back to where it was.
      this.#platform.log.warn({ err: error }, 'a stream of events ended early');
    }
  }

  async #lookOn(): Promise<void> {
    const { db, log } = this.#platform;
    this.#isLooking = true;
    let news = Promise.withResolvers<void>();
    const endListening = onPublished(db, () => news.resolve());
    let isAway = false;
    let checkedAtMs = performance.now();
    while (this.#listeners.size > 0) {
      news = Promise.withResolvers();
      try {
        await this.#look();
        if (performance.now() - checkedAtMs >= CHECK_KEYS_EVERY_MS) {
          await this.#endRefused();
          checkedAtMs = performance.now();
        }
        isAway = false;
      } catch (error) {
        if (!isAway) log.warn({ err: error }, 'new events cannot be looked for');
        isAway = true;
      }
      await sleep(LOOK_AGAIN_MS);
      await Promise.race([news.promise, sleep(LOOK_EVERY_MS - LOOK_AGAIN_MS)]);
    }
    endListening();
    this.#isLooking = false;
  }

  async #look(): Promise<void> {
    const feeds = [...this.#feeds.values()];
    const ends = await readStreamEnds(this.#platform.db, feeds);
    for (const feed of feeds) feed.moveTo(ends.get(feed.storeId) ?? 0n);
  }

  /** Whoever could not open a stream any more does not keep one. */
  async #endRefused(): Promise<void> {
    const listeners = [...this.#listeners];
    const admitted = await listAdmittedKeys(this.#platform, listeners);
    for (const { keyId, leaving } of listeners) if (!admitted.has(keyId)) leaving.abort();
  }
}

/** The bytes as they were recorded: JSON.stringify writes no line break, so they are one line. */
const textOf = ({ event_id, type, body }: StreamRow) =>
  `id: ${encodeId('event', event_id)}\nevent: ${type}\ndata: ${body}\n\n`;
