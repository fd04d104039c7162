import { setTimeout as sleep } from 'node:timers/promises';
import { IDEMPOTENCY_KEY_HEADER } from '@florin/contract/signing';
import { type Answer, ConnectionError, errorOf, FlorinError, ServerError, TimeoutError } from './errors.ts';
import { judge, pauseMs } from './retry.ts';
import { freshStamp, signatureHeaders } from './sign.ts';
import type { ResponseInfo } from './types.ts';

const SDK_VERSION = '0.1.0';
/** The version of the interface that the types of this SDK describe. */
const SERVICE_VERSION = '2026-04-20';
const PATH_PREFIX = '/api/v1';
/** A stream sends at least a heartbeat every 15 s. */
const SILENCE_MAX_MS = 45_000;
/** Failures of fetch that come before the first byte of the request could leave. */
const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

export interface TransportSettings {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly secretKey: string;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly basePauseMs: number;
  readonly fetch: typeof globalThis.fetch;
  readonly signal: AbortSignal | undefined;
}

/** Beside the results themselves, whose fields are the service's. */
const responses = new WeakMap<object, ResponseInfo>();

/**
 * The answer that a result came with: its status, request id and headers. A page of a list has one as well; undefined for
 * objects that no call returned.
 *
 * @example
 * ```ts
 * const payment = await florin.payments.retrieve(paymentId);
 * console.log(responseOf(payment)?.requestId);
 * ```
 */
export const responseOf = (result: object): ResponseInfo | undefined => responses.get(result);

export type QueryValue = string | number | undefined;

export interface Call<T> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below /api/v1, such as `/balances`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, QueryValue>>;
  readonly body?: object;
  readonly idempotencyKey?: string;
  /**
   * After an attempt that may have had its effect: `repeat` (a read), `stop` (a write that cannot be repeated
   * safely), or a read of the state, which returns the result if the effect is there and undefined if not.
   */
  readonly onDoubt: 'repeat' | 'stop' | Find<T>;
}

type Find<T> = () => Promise<T | undefined>;

/** Sends calls: bytes signed are bytes sent, every attempt with a stamp of its own, retries only where safe. */
export class Transport {
  readonly #settings: TransportSettings;

  constructor(settings: TransportSettings) {
    this.#settings = settings;
  }

  /** The answer's JSON. Throws FlorinError; while a write is in doubt, always the error that left it there. */
  async send<T>(call: Call<T>): Promise<T> {
    const { onDoubt } = call;
    let doubt: FlorinError | undefined;
    for (let retry = 0; ; retry++) {
      try {
        if (doubt === undefined || typeof onDoubt === 'string') return await this.once(call);
        return await this.#afterDoubt(call, onDoubt, doubt);
      } catch (error) {
        if (!(error instanceof FlorinError)) throw error;
        const verdict = judge(error);
        if (verdict === 'final' || (verdict === 'doubt' && onDoubt === 'stop')) throw error;
        if (verdict === 'doubt' && onDoubt !== 'repeat') doubt ??= error;

        const pause =
          retry < this.#settings.maxRetries ? pauseMs(error, retry, this.#settings.basePauseMs) : undefined;
        if (pause === undefined) throw doubt ?? error;
        await this.#pause(pause);
      }
    }
  }

  /** A retry of a write reads the state first (spec 7.2: query the resource state before retrying). */
  async #afterDoubt<T>(call: Call<T>, find: Find<T>, doubt: FlorinError): Promise<T> {
    const found = await this.#read(find, doubt);
    if (found !== undefined) return found;
    try {
      return await this.once(call);
    } catch (refused) {
      if (!(refused instanceof FlorinError) || judge(refused) !== 'final') throw refused;
      // The attempt in doubt may have succeeded after the read, and its effect may be why this one is refused.
      const late = await this.#read(find, doubt);
      if (late !== undefined) return late;
      throw refused;
    }
  }

  /** A failed read leaves the write in doubt, so its own error is not reported. */
  async #read<T>(find: Find<T>, doubt: FlorinError): Promise<T | undefined> {
    try {
      return await find();
    } catch (error) {
      throw error instanceof FlorinError && judge(error) === 'final' ? doubt : error;
    }
  }

  get basePauseMs(): number {
    return this.#settings.basePauseMs;
  }

  /**
   * The pieces of an answer that goes on, without retries. It ends with the answer, and throws FlorinError where it is
   * refused, breaks off or says nothing for longer than the service ever would.
   */
  async *stream(
    call: Call<never>,
    signal?: AbortSignal,
    type: 'text/event-stream' | 'text/csv' = 'text/event-stream',
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const leaving = new AbortController();
    const signals = [signal, this.#settings.signal].filter((one) => one !== undefined);
    const ended = AbortSignal.any(signals);
    const leave = () => leaving.abort(ended.reason);
    if (ended.aborted) leave();
    ended.addEventListener('abort', leave);
    const listen = () =>
      setTimeout(() => leaving.abort(new DOMException('', 'TimeoutError')), SILENCE_MAX_MS);
    let timer = listen();
    try {
      const headers = this.#headers(call, new Uint8Array());
      headers.set('Accept', type);
      const init: RequestInit = { headers, redirect: 'manual', signal: leaving.signal };
      const response = await this.#settings.fetch(this.#url(call), init);
      const { body } = response;
      if (!response.ok || body === null || !isOfType(response, type))
        throw await refusalOf(response, type, this.#settings.baseUrl);
      for await (const piece of body) {
        clearTimeout(timer);
        yield piece;
        timer = listen();
      }
    } catch (error) {
      throw error instanceof FlorinError ? error : this.#noAnswer(error, SILENCE_MAX_MS);
    } finally {
      clearTimeout(timer);
      ended.removeEventListener('abort', leave);
      leaving.abort();
    }
  }

  /** One attempt, without retries. */
  async once<T>(call: Call<T>): Promise<T> {
    const body =
      call.body === undefined ? new Uint8Array() : new TextEncoder().encode(JSON.stringify(call.body));
    const headers = this.#headers(call, body);
    const answer = await this.#exchange(this.#url(call), {
      method: call.method,
      headers,
      // A redirect would send the API key to another host.
      redirect: 'manual',
      signal: this.#until(this.#settings.timeoutMs),
      ...(call.body === undefined ? {} : { body }),
    });
    if (answer.status < 200 || answer.status > 299) throw errorOf(answer, this.#settings.baseUrl);
    return result(answer);
  }

  async #pause(ms: number): Promise<void> {
    const { signal } = this.#settings;
    try {
      await sleep(ms, undefined, signal === undefined ? {} : { signal });
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  }

  /** Whatever comes first: too late, or the caller's own end. */
  #until(timeoutMs: number): AbortSignal {
    const late = AbortSignal.timeout(timeoutMs);
    const { signal } = this.#settings;
    return signal === undefined ? late : AbortSignal.any([late, signal]);
  }

  #url({ path, query = {} }: Call<unknown>): string {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) search.set(name, String(value));
    return `${this.#settings.baseUrl}${PATH_PREFIX}${path}${search.size === 0 ? '' : `?${search.toString()}`}`;
  }

  #headers(call: Call<unknown>, body: Uint8Array): Headers {
    const { apiKey, secretKey } = this.#settings;
    const headers = new Headers({
      Accept: 'application/json',
      Authorization: `Bearer ${apiKey}`,
      'User-Agent': `florin-sdk/${SDK_VERSION} node/${process.versions.node}`,
      'X-Service-Version': SERVICE_VERSION,
      ...signatureHeaders(secretKey, body, freshStamp()),
    });
    if (call.body !== undefined) headers.set('Content-Type', 'application/json');
    if (call.idempotencyKey !== undefined) headers.set(IDEMPOTENCY_KEY_HEADER, call.idempotencyKey);
    return headers;
  }

  async #exchange(url: string, init: RequestInit): Promise<Answer> {
    try {
      const response = await this.#settings.fetch(url, init);
      return { status: response.status, headers: response.headers, text: await response.text() };
    } catch (error) {
      this.#settings.signal?.throwIfAborted();
      throw this.#noAnswer(error, this.#settings.timeoutMs);
    }
  }

  #noAnswer(error: unknown, timeoutMs: number): FlorinError {
    if (error instanceof Error && error.name === 'TimeoutError') {
      const message = `no answer within ${timeoutMs} ms`;
      return new TimeoutError({ message, code: 'timed_out' }, { cause: error });
    }
    const reason = networkCode(error);
    const message = `no answer from ${this.#settings.baseUrl}: ${reason ?? String(error)}`;
    const neverSent = reason !== undefined && NEVER_SENT.has(reason);
    return new ConnectionError({ message, code: 'connection_failed', neverSent }, { cause: error });
  }
}

const isOfType = ({ headers }: Response, type: string) =>
  headers.get('content-type')?.startsWith(type) ?? false;

async function refusalOf(response: Response, type: string, baseUrl: string): Promise<FlorinError> {
  const { status, headers } = response;
  if (!response.ok) return errorOf({ status, headers, text: await response.text() }, baseUrl);
  const message = `HTTP ${status} that is not ${type}: is baseUrl the address of the service?`;
  return new ServerError({ message, code: 'unexpected_answer', status });
}

function result<T>(answer: Answer): T {
  try {
    const parsed = JSON.parse(answer.text);
    const { status, headers } = answer;
    const requestId = headers.get('x-request-id') ?? undefined;
    if (typeof parsed === 'object' && parsed !== null) responses.set(parsed, { status, headers, requestId });
    return parsed;
  } catch (error) {
    const message = `HTTP ${answer.status} whose body is not JSON: is baseUrl the address of the service?`;
    const requestId = answer.headers.get('x-request-id') ?? undefined;
    throw new ServerError(
      { message, code: 'unexpected_answer', status: answer.status, requestId },
      { cause: error },
    );
  }
}

/** fetch says only `fetch failed`; the network's own code is one level down. */
function networkCode(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  if (!(cause instanceof Error)) return undefined;
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
}

/** An id as one segment of a path. Throws a TypeError for what would make another path of it. */
export function segment(id: string): string {
  if (typeof id !== 'string' || id === '' || id === '.' || id === '..') {
    throw new TypeError(`not an id: ${JSON.stringify(id)}`);
  }
  return encodeURIComponent(id);
}
