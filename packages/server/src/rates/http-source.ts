import { unixMsOf } from '../platform/db/index.ts';
import { type UrlReader, UrlUnread } from '../platform/outbound/index.ts';
import { type RateSource, SourceFailed, type SourceQuote } from './port.ts';
import { parseRate } from './rate.ts';
import { locationOf } from './source-text.ts';

/** The pause after a provider's failure: without it every price would wait for the provider. */
const RETRY_AFTER_MS = 2_000;
/** Unused entries are dropped after this. */
const FORGET_AFTER_MS = 3_600_000;
/** A provider's clock may be ahead of ours by this much. */
const AHEAD_MAX_MS = 60_000;
/** Unix times above this are milliseconds: as seconds they would be after the year 5138. */
const SECONDS_LIMIT = 100_000_000_000;

/** A parsed answer in which numbers keep their text, as a double cannot hold every decimal. */
interface Answer {
  json: unknown;
  readAtMs: number;
}

/** The state of a URL. */
interface Entry {
  answer: Answer | undefined;
  failure: SourceFailed | undefined;
  failedAtMs: number;
  usedAtMs: number;
  underWay: Promise<void> | undefined;
}

/** JSON.parse passes the source text of numbers to its reviver, which TypeScript's type lacks. */
type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;
const keepText: Reviver = (_key, value, { source }) => (typeof value === 'number' ? source : value);

function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text, keepText as (key: string, value: unknown) => unknown);
  } catch {
    throw new SourceFailed('invalid', 'the answer is no JSON');
  }
}

function valueAt(json: unknown, path: readonly string[]): unknown {
  let value = json;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}

/** Unix seconds or milliseconds, or an ISO 8601 time. */
function timeOf(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined;
  if (!/^\d{1,15}(?:\.\d{1,9})?$/.test(value)) return unixMsOf(value);
  const number = Number(value);
  return number < SECONDS_LIMIT ? number * 1000 : number;
}

/**
 * Caches answers of providers by URL. A provider gets one request at a time, however many pairs and prices wait for it. An
 * answer is used until it is due for a refresh, and longer while requests fail; `agree` refuses it as `stale` by its time.
 */
export class HttpAnswers {
  readonly #reader: UrlReader;
  readonly #nowMs: () => number;
  readonly #entries = new Map<string, Entry>();

  constructor(reader: UrlReader, nowMs: () => number) {
    this.#reader = reader;
    this.#nowMs = nowMs;
  }

  /** @throws SourceFailed */
  async get(url: string, refreshMs: number): Promise<Answer> {
    const entry = this.#entryOf(url);
    const now = this.#nowMs();
    const isFresh = entry.answer !== undefined && now - entry.answer.readAtMs < refreshMs;
    const hasJustFailed = entry.failure !== undefined && now - entry.failedAtMs < RETRY_AFTER_MS;
    if (!isFresh && !hasJustFailed) {
      entry.underWay ??= this.#fetchRates(url, entry).finally(() => {
        entry.underWay = undefined;
      });
      await entry.underWay;
    }
    if (entry.answer !== undefined) return entry.answer;
    throw entry.failure ?? new SourceFailed('no_rate', 'no answer yet');
  }

  #entryOf(url: string): Entry {
    const now = this.#nowMs();
    const known = this.#entries.get(url);
    if (known !== undefined) {
      known.usedAtMs = now;
      return known;
    }
    for (const [other, { usedAtMs }] of this.#entries) {
      if (now - usedAtMs > FORGET_AFTER_MS) this.#entries.delete(other);
    }
    const entry = {
      answer: undefined,
      failure: undefined,
      failedAtMs: 0,
      usedAtMs: now,
      underWay: undefined,
    };
    this.#entries.set(url, entry);
    return entry;
  }

  async #fetchRates(url: string, entry: Entry): Promise<void> {
    // Taken before the request, so that our wait for the answer counts as part of its age.
    const readAtMs = this.#nowMs();
    try {
      entry.answer = { json: parseAnswer(await this.#reader.read(url)), readAtMs };
      entry.failure = undefined;
    } catch (error) {
      entry.failedAtMs = this.#nowMs();
      if (error instanceof SourceFailed) entry.failure = error;
      else if (error instanceof UrlUnread) entry.failure = new SourceFailed('no_rate', error.failure);
      else throw error;
    }
  }
}

/** A provider that answers a GET with JSON. */
export function httpSource(source: string, answers: HttpAnswers, refreshMs: number): RateSource {
  const quote = ({ json, readAtMs }: Answer, location: ReturnType<typeof locationOf>): SourceQuote => {
    const value = valueAt(json, location.rate);
    if (value === undefined) throw new SourceFailed('no_rate', 'no such pair in the answer');
    if (typeof value !== 'string') throw new SourceFailed('invalid', 'no number in the answer');
    const atMs = location.time === undefined ? readAtMs : timeOf(valueAt(json, location.time));
    if (atMs === undefined || atMs > readAtMs + AHEAD_MAX_MS)
      throw new SourceFailed('invalid', 'no time in the answer');
    try {
      return { rate: parseRate(value), atMs: Math.min(atMs, readAtMs) };
    } catch {
      throw new SourceFailed('invalid', 'no rate above zero in the answer');
    }
  };
  return {
    name: new URL(locationOf(source, { token: 'USDT', currency: 'USD' }).url).host,
    quote: async (pair) => {
      const location = locationOf(source, pair);
      return quote(await answers.get(location.url, refreshMs), location);
    },
  };
}
