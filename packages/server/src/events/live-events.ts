import { setTimeout as sleep } from 'node:timers/promises';
import { Fail } from '../platform/fail.ts';
import type { Caller, OpenStream } from '../platform/http/index.ts';
import type { Platform } from '../platform/platform.ts';
import { listAdmittedKeys } from '../stores/keys/index.ts';
import { encodeId } from '../tenancy/index.ts';
import { readStreamEnds, streamOf } from './publish-events.ts';
import { onPublished } from './publish-notifier.ts';
import { findNumber, type StreamPosition } from './queries.ts';
import { StoreFeed, type StreamRow } from './store-feed.ts';

/** The polling interval; after a publication by this process the next poll follows after the shorter wait. */
const POLL_EVERY_MS = 250;
const POLL_MIN_WAIT_MS = 10;
/** How often the rights of the listening keys are checked. */
const CHECK_KEYS_EVERY_MS = 2_000;
const HEARTBEAT_MS = 15_000;
/** After this a client should reconnect. */
const RETRY_MS = 1_000;
const STREAMS_PER_KEY_MAX = 10;
const STREAMS_MAX = 2_000;
/** A person is told of changes at most so often: their page reads what it shows anew. */
const TOLD_EVERY_MS = 1_000;
/** Then the page opens a stream anew, and is asked again who it is. */
const WATCH_MS = 60_000;

interface Listener {
  merchantId: string;
  /** The session, of a person. */
  keyId: string;
  isPerson: boolean;
  leaving: AbortController;
}

/**
 * Streams events to clients as they are published. One poll of the database serves the whole process. Each stream follows
 * the numbers of its store at the speed of its client, so none can miss or repeat an event.
 */
export class LiveEvents {
  readonly #platform: Platform;
  readonly #feeds = new Map<string, StoreFeed>();
  readonly #listeners = new Set<Listener>();
  #isPolling = false;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** Streams everything after a position. @throws Fail `rate_limited` where the key has ten streams open */
  open(caller: Caller, start: StreamPosition): OpenStream {
    return this.#listen(caller, (feed, leaving) => this.#stream(feed, start, leaving));
  }

  /**
   * Tells a person's page that something of a store has changed, and not what: it reads again what it shows, with the
   * rights of that moment. The stream ends after a minute.
   *
   * @param seen the number that the page was told last; what came since is told at once
   * @throws Fail `rate_limited` where the session has ten streams open
   */
  watch(caller: Caller, seen: bigint | undefined): OpenStream {
    return this.#listen(caller, (feed, leaving) => this.#changes(feed, seen, leaving));
  }

  #listen(
    { merchantId, storeId, keyId, actor }: Caller,
    read: (feed: StoreFeed, leaving: AbortSignal) => AsyncIterable<string>,
  ): OpenStream {
    const isPerson = actor.kind === 'user';
    const own = [...this.#listeners].filter((listener) => listener.keyId === keyId).length;
    if (own >= STREAMS_PER_KEY_MAX || this.#listeners.size >= STREAMS_MAX) {
      const message = `${isPerson ? 'A session' : 'An API key'} may have ${STREAMS_PER_KEY_MAX} open streams. Close one first.`;
      throw new Fail('rate_limited', { message, retryAfterSeconds: 1 });
    }
    const listener = { merchantId, keyId, isPerson, leaving: new AbortController() };
    this.#listeners.add(listener);
    return (signal) => {
      signal.addEventListener('abort', () => listener.leaving.abort(), { once: true });
      return read(this.#join({ merchantId, storeId }, listener), listener.leaving.signal);
    };
  }

  #join(store: { merchantId: string; storeId: string }, listener: Listener): StoreFeed {
    const key = streamOf(store);
    const feed = this.#feeds.get(key) ?? new StoreFeed(this.#platform.db, store);
    this.#feeds.set(key, feed);
    feed.listeners++;
    const leave = () => {
      this.#listeners.delete(listener);
      feed.listeners--;
      if (feed.listeners === 0) this.#feeds.delete(key);
    };
    listener.leaving.signal.addEventListener('abort', leave, { once: true });
    if (!this.#isPolling) void this.#pollLoop();
    return feed;
  }

  async *#stream(feed: StoreFeed, start: StreamPosition, leaving: AbortSignal): AsyncGenerator<string> {
    yield `retry: ${RETRY_MS}\nid: ${start.id}\n\n`;
    try {
      for (let position = start.at; !leaving.aborted; ) {
        const { end } = feed;
        if (typeof position === 'object') {
          position = (await findNumber(this.#platform.db, feed.merchantId, position.eventId)) ?? position;
        }
        if (typeof position === 'bigint' && position < end) {
          const { rows, upTo } = await feed.read(position);
          for (const row of rows) yield textOf(row);
          position = rows.at(-1)?.number ?? upTo;
        } else if (!(await feed.waitForMove(end, leaving, HEARTBEAT_MS))) {
          yield ':\n\n';
        }
      }
    } catch (error) {
      // The response ends, and the client reconnects with its last id.
      this.#platform.log.warn({ err: error }, 'a stream of events ended early');
    }
  }

  async *#changes(feed: StoreFeed, seen: bigint | undefined, leaving: AbortSignal): AsyncGenerator<string> {
    const untilMs = performance.now() + WATCH_MS;
    try {
      const now = (await readStreamEnds(this.#platform.db, [feed])).get(streamOf(feed)) ?? 0n;
      // A number that is not there yet is of before a backup was put back: everything may have changed.
      let told = seen === undefined ? now : seen > now ? -1n : seen;
      yield `retry: ${RETRY_MS}\nid: ${told < 0n ? 0n : told}\n\n`;
      while (!leaving.aborted && performance.now() < untilMs) {
        const { end } = feed;
        if (end > told) {
          told = end;
          yield `id: ${end}\nevent: changed\ndata:\n\n`;
          await sleep(TOLD_EVERY_MS, undefined, { signal: leaving }).catch(() => undefined);
        } else if (!(await feed.waitForMove(end, leaving, HEARTBEAT_MS))) {
          yield ':\n\n';
        }
      }
    } catch (error) {
      this.#platform.log.warn({ err: error }, 'a stream of changes ended early');
    }
  }

  async #pollLoop(): Promise<void> {
    const { db, log } = this.#platform;
    this.#isPolling = true;
    let published = Promise.withResolvers<void>();
    const endListening = onPublished(db, () => published.resolve());
    let isAway = false;
    let checkedAtMs = performance.now();
    while (this.#listeners.size > 0) {
      published = Promise.withResolvers();
      try {
        await this.#poll();
        if (performance.now() - checkedAtMs >= CHECK_KEYS_EVERY_MS) {
          await this.#endRevoked();
          checkedAtMs = performance.now();
        }
        isAway = false;
      } catch (error) {
        if (!isAway) log.warn({ err: error }, 'new events cannot be read');
        isAway = true;
      }
      await sleep(POLL_MIN_WAIT_MS);
      await Promise.race([published.promise, sleep(POLL_EVERY_MS - POLL_MIN_WAIT_MS)]);
    }
    endListening();
    this.#isPolling = false;
  }

  async #poll(): Promise<void> {
    const feeds = [...this.#feeds.values()];
    const ends = await readStreamEnds(this.#platform.db, feeds);
    for (const feed of feeds) feed.advance(ends.get(streamOf(feed)) ?? 0n);
  }

  /** Ends the streams of keys that could not open one any more; those of people end by themselves, and carry nothing. */
  async #endRevoked(): Promise<void> {
    const listeners = [...this.#listeners].filter(({ isPerson }) => !isPerson);
    const admitted = await listAdmittedKeys(this.#platform, listeners);
    for (const { keyId, leaving } of listeners) if (!admitted.has(keyId)) leaving.abort();
  }
}

/** The recorded bytes are one line, as JSON.stringify writes no line break. */
const textOf = ({ event_id, type, body }: StreamRow) =>
  `id: ${encodeId('event', event_id)}\nevent: ${type}\ndata: ${body}\n\n`;
