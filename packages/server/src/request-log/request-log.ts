import { codeOf, type Db, isUnavailable } from '../platform/db/index.ts';
import type { Exchange, ExchangeRecorder } from '../platform/http/exchanges/index.ts';
import { TokenBuckets } from '../platform/http/index.ts';
import { isLineDue, type Logger, type Metrics } from '../platform/observability/index.ts';
import type { Vault } from '../platform/secrets/index.ts';
import { apiKeyIn, recordKeyUses } from '../stores/key-owners/index.ts';
import { KeyUses } from './key-uses.ts';
import { lengthOf, RowBuilder, type RowLoss } from './row-builder.ts';
import type { RequestLogRow } from './tables.ts';
import { writeRequests } from './write.ts';

/** Each group wakes a backend whose caches are cold: by 400 ms instead of 100 a row costs half as much. */
const FLUSH_AFTER_MS = 400;
/** What fills a statement: rows, or characters of their texts. */
const GROUP_MAX = 500;
const GROUP_LENGTH_MAX = 1_048_576;
/** What waits at most: requests, and characters of their texts. */
const WAITING_MAX = 5_000;
const WAITING_LENGTH_MAX = 16 * 1_048_576;
/** Requests whose signature was not verified: an API key is no secret, so they are bounded for each key that exists. */
const REFUSED = { perSecond: 5, burst: 100 };
const KEYS_MAX = 1_000;
/** Of a group that took too long: a table that is locked costs 7 statements of it, not hundreds. */
const HALVINGS_MAX = 2;
const STATEMENT_TIMEOUT = '57014';
const TOO_MANY_REQUESTS = 429;
/** Where it is not known yet whether the key exists: of one address, and of all together. */
const UNKNOWN_OF_ADDRESS = { perSecond: 5, burst: 50 };
const UNKNOWN = { perSecond: 20, burst: 200 };
/** With these the pipeline has found the key. */
const KEY_EXISTS = new Set<string | undefined>(['signature', 'timestamp', 'ended', 'nonce']);
/** How long a shutdown waits for the last groups. */
const CLOSE_MS = 2_000;

export interface RequestLogDeps {
  /** Of its own, and commits without waiting for the disk: requests never wait for these statements. */
  db: Db;
  vault: Vault;
  log: Logger;
  metrics: Metrics;
}

type Loss = 'buffer_full' | RowLoss;

interface Waiting {
  exchange: Exchange;
  length: number;
}

/**
 * Writes requests in groups, behind their answers. Nothing waits for it: what does not fit in its memory, or cannot be
 * written, is counted and forgotten.
 */
export class RequestLog implements ExchangeRecorder {
  readonly #deps: RequestLogDeps;
  readonly #refused = new TokenBuckets(REFUSED.perSecond, REFUSED.burst, KEYS_MAX);
  readonly #unknownOfAddress = new TokenBuckets(
    UNKNOWN_OF_ADDRESS.perSecond,
    UNKNOWN_OF_ADDRESS.burst,
    KEYS_MAX,
  );
  readonly #unknown = new TokenBuckets(UNKNOWN.perSecond, UNKNOWN.burst);
  readonly #rows: RowBuilder;
  readonly #uses = new KeyUses();
  #waiting: Waiting[] = [];
  #waitingLength = 0;
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;

  constructor(deps: RequestLogDeps) {
    this.#deps = deps;
    this.#rows = new RowBuilder(deps, (reason, error) => this.#lose(reason, 1, error));
  }

  record(exchange: Exchange): void {
    if (!this.#isKept(exchange)) return;
    const length = lengthOf(exchange);
    const isFull = this.#waiting.length >= WAITING_MAX || this.#waitingLength + length > WAITING_LENGTH_MAX;
    if (isFull) {
      this.#lose('buffer_full', 1);
      return;
    }
    const wasGroup = this.#isGroup;
    this.#waiting.push({ exchange, length });
    this.#waitingLength += length;
    if (this.#flushing !== undefined) return;
    this.#writeSoon();
    if (this.#isGroup && !wasGroup) setImmediate(() => void this.#writeWaiting());
  }

  #writeSoon(): void {
    this.#timer ??= setTimeout(() => void this.#writeWaiting(), FLUSH_AFTER_MS).unref();
  }

  /** What waits fills a statement. */
  get #isGroup(): boolean {
    return this.#waiting.length >= GROUP_MAX || this.#waitingLength >= GROUP_LENGTH_MAX;
  }

  /** What was refused for being too much must not become much here. */
  #isKept(exchange: Exchange): boolean {
    if (exchange.caller === undefined) return this.#isRefusalKept(exchange);
    if (exchange.status !== TOO_MANY_REQUESTS) return true;
    if (this.#refused.take(exchange.caller.keyId, exchange.answeredAtMs) === 0) return true;
    this.#lose('too_many_refused', 1);
    return false;
  }

  /** A stranger must not fill the disk: requests with an unknown key are counted by the pipeline alone. */
  #isRefusalKept({ refusal, headers, answeredAtMs, remoteAddress }: Exchange): boolean {
    const apiKey = apiKeyIn(headers.authorization);
    if (apiKey === undefined || refusal === 'key') return false;
    const isFree = KEY_EXISTS.has(refusal)
      ? this.#refused.take(apiKey, answeredAtMs) === 0
      : this.#unknownOfAddress.take(remoteAddress, answeredAtMs) === 0 &&
        this.#unknown.take('all', answeredAtMs) === 0;
    if (isFree) return true;
    this.#lose('too_many_refused', 1);
    return false;
  }

  /** Writes all that waits, and what comes meanwhile. Never throws. */
  async flush(): Promise<void> {
    while (this.#flushing !== undefined || this.#waiting.length > 0) await this.#writeWaiting();
  }

  /** Writes what waits now. What comes meanwhile waits for more, unless it fills a statement. Never throws. */
  async #writeWaiting(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#flushing ??= this.#writeGroups(this.#waiting.length).finally(() => {
      this.#flushing = undefined;
      if (this.#waiting.length > 0) this.#writeSoon();
    });
    await this.#flushing;
  }

  async #writeGroups(count: number): Promise<void> {
    for (let left = count; left > 0 || this.#isGroup; ) {
      const group = this.#nextGroup();
      left -= group.length;
      try {
        const exchanges = group.map(({ exchange }) => exchange);
        await this.#write(await this.#rows.of(exchanges));
        await this.#tellKeys(exchanges);
      } catch (error) {
        this.#lose('database', group.length, error);
      } finally {
        // Until then they are in memory, and count.
        this.#waitingLength -= group.reduce((sum, { length }) => sum + length, 0);
      }
    }
  }

  /** Never throws: when a key was last used is told again in a minute. */
  async #tellKeys(group: readonly Exchange[]): Promise<void> {
    const { db, log } = this.#deps;
    try {
      await recordKeyUses(db, this.#uses.due(group));
    } catch (error) {
      if (isLineDue(log, 'request-log key uses'))
        log.warn({ err: error }, 'when keys were last used could not be recorded');
    }
  }

  #nextGroup(): Waiting[] {
    let sum = 0;
    const end = this.#waiting.findIndex(({ length }, at) => {
      const isFull = at === GROUP_MAX || sum >= GROUP_LENGTH_MAX;
      sum += length;
      return isFull;
    });
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }

  /** A row that the database refuses takes no other row with it; a group that takes it too long is halved. */
  async #write(rows: readonly RequestLogRow[], halvings = HALVINGS_MAX): Promise<void> {
    if (rows.length === 0) return;
    try {
      await writeRequests(this.#deps.db, rows);
    } catch (error) {
      if (codeOf(error) === STATEMENT_TIMEOUT && rows.length > 1 && halvings > 0)
        return await this.#writeHalves(rows, halvings - 1);
      // Of a connection that broke while it was idle: the next one may be good, and a row is never written twice.
      if (isUnavailable(error)) return await writeRequests(this.#deps.db, rows, { isAgain: true });
      if (rows.length === 1) throw error;
      for (const row of rows) {
        await writeRequests(this.#deps.db, [row]).catch((cause: unknown) => this.#lose('database', 1, cause));
      }
    }
  }

  async #writeHalves(rows: readonly RequestLogRow[], halvings: number): Promise<void> {
    const half = Math.ceil(rows.length / 2);
    for (const part of [rows.slice(0, half), rows.slice(half)])
      await this.#write(part, halvings).catch((cause: unknown) => this.#lose('database', part.length, cause));
  }

  #lose(reason: Loss, count: number, error?: unknown): void {
    const { metrics, log } = this.#deps;
    metrics.lostRequests(reason, count);
    if (isLineDue(log, `request-log ${reason}`))
      log.warn({ reason, err: error }, 'requests are missing in the request log; how many is a metric');
  }

  /** Writes what waits, for two seconds at most, and closes the pool. */
  async close(): Promise<void> {
    const { promise: tooLate, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, CLOSE_MS);
    // Of a database that does not answer, the pool's own limits end the rest.
    await Promise.race([this.flush().then(() => this.#deps.db.destroy()), tooLate]);
    clearTimeout(timer);
  }
}
