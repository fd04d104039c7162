import type { Clock } from '../db/clock.ts';
import { Fail } from '../fail.ts';
import type { Logger } from '../observability/log.ts';
import { EVENT_STREAM } from './event-stream.ts';
import { type Csv, Exports, prefersCsv } from './export.ts';
import { JsonRefused, parseStrictJson } from './json.ts';
import { readQuery } from './query.ts';
import { TokenBuckets } from './rate-limit.ts';
import type { Answer, Caller, Route, RouteRequest } from './route.ts';
import { compileShape, type ShapeCheck } from './validate.ts';

/** One request as received, unauthenticated and without its body. */
export interface RequestHead {
  method: string;
  url: string;
  /** Names in lower case; a repeated name is in `repeated` as well. */
  headers: Readonly<Record<string, string | undefined>>;
  repeated: ReadonlySet<string>;
  /** A body was announced although the method has none. */
  strayBody: boolean;
  params: Readonly<Record<string, string>>;
  requestId: string;
  remoteAddress: string;
}

export interface RawRequest extends RequestHead {
  /** As it was signed; empty without one. */
  body: Buffer;
  /** A body was received and discarded, as nobody can have signed it. */
  bodyIsDiscarded: boolean;
  /** Who sent it, once `authenticate` has verified that, whether or not the request goes on. */
  caller?: Caller;
}

export interface Authenticated {
  caller: Caller;
  /**
   * Makes the spent nonce durable. Called before an answer without a synchronous commit of its own, so that a replay is
   * refused even after a crash of the database.
   */
  hardenNonce: () => Promise<void>;
}

/**
 * Checks who sent a request and spends its nonce.
 *
 * @param willCommit a synchronous commit will follow, which flushes the nonce as well.
 * @throws Fail `authentication_required`; `forbidden` for a disabled store or a suspended merchant
 */
export type Authenticate = (request: RawRequest, willCommit: boolean) => Promise<Authenticated>;

export interface Authentication {
  authenticate: Authenticate;
  /** Whether the headers of a request name an existing key, or a session: only then its body is kept. */
  knowsKey(head: RequestHead): Promise<boolean>;
}

export interface PipelineOptions extends Authentication {
  clock: Clock;
  log: Logger;
  rate: { perSecond: number; burst: number };
  versions: readonly string[];
  /** Whether a person may use a route; without it nobody may. Keys have scopes. @throws Fail `forbidden` */
  permitUser?: (caller: Caller, route: Route) => void;
  /** Checks each answer against its schema; a test build turns it on. */
  checkAnswers: boolean;
}

const GUESSES_PER_SECOND = 5;
const GUESSES_BURST = 20;
const GUESS_DELAY_MAX_MS = 1_000;
const KEY_FORM = /^[\x20-\x7e]{1,128}$/;

interface PreparedRoute {
  route: Route;
  checkParams: ShapeCheck | undefined;
  checkQuery: ShapeCheck | undefined;
  checkBody: ShapeCheck | undefined;
  checkAnswer: ShapeCheck | undefined;
}

/**
 * The order of checks of every signed call: authentication → rate limit → route → permission → Idempotency-Key →
 * version → query → content type and shape → parameters of the path → the operation (resource, idempotency look-up,
 * state, business rules).
 */
export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #buckets: TokenBuckets;
  readonly #exports = new Exports();
  readonly #guesses = new TokenBuckets(GUESSES_PER_SECOND, GUESSES_BURST);

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#buckets = new TokenBuckets(options.rate.perSecond, options.rate.burst);
  }

  prepare(route: Route): PreparedRoute {
    const isChecked = this.#options.checkAnswers && route.answer !== EVENT_STREAM;
    return {
      route,
      checkParams: route.params && compileShape(route.params),
      checkQuery: route.query && compileShape(route.query),
      checkBody: route.body && compileShape(route.body),
      checkAnswer: isChecked ? compileShape(route.answer) : undefined,
    };
  }

  /** Runs a call. @throws Fail */
  async run(raw: RawRequest, prepared: PreparedRoute): Promise<Answer<unknown> | { csv: Csv }> {
    const willCommit = prepared.route.alwaysCommits ?? false;
    const { caller, hardenNonce } = await this.#admit(raw, willCommit);
    try {
      this.#limit(caller);
      const request = this.#read(raw, caller, prepared);
      checkPath(raw, prepared);
      const { list } = prepared.route;
      if (list !== undefined && prefersCsv(raw.headers.accept))
        return { csv: await this.#exports.start(list, request) };
      const answer = await prepared.route.handle(request);
      checkAnswer(answer, prepared);
      if (willCommit && answer.replayed) await hardenNonce();
      return answer;
    } catch (error) {
      if (willCommit) await hardenNonce();
      throw error;
    }
  }

  /** Refuses an unknown path or method after authentication. @throws Fail always */
  async refuse(raw: RawRequest, fail: Fail): Promise<never> {
    const { caller } = await this.#admit(raw, false);
    this.#limit(caller);
    throw fail;
  }

  /** Forgets idle rate buckets. */
  sweep(): void {
    this.#buckets.sweep(this.#options.clock.nowMs());
    this.#guesses.sweep(this.#options.clock.nowMs());
  }

  async #admit(raw: RawRequest, willCommit: boolean): Promise<Authenticated> {
    try {
      return await this.#options.authenticate(raw, willCommit);
    } catch (error) {
      if (error instanceof Fail && error.code === 'authentication_required') await this.#slowGuesses(raw);
      throw error;
    }
  }

  /** Delays failed authentications only: a correctly signed request from the same address is never delayed. */
  async #slowGuesses(raw: RawRequest): Promise<void> {
    const waitMs = this.#guesses.take(raw.remoteAddress, this.#options.clock.nowMs());
    if (waitMs === 0) return;
    await new Promise((resolve) => setTimeout(resolve, Math.min(waitMs, GUESS_DELAY_MAX_MS)));
  }

  #limit(caller: Caller): void {
    const waitMs = this.#buckets.take(caller.keyId, this.#options.clock.nowMs());
    if (waitMs === 0) return;
    const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
    throw new Fail('rate_limited', {
      message: `Too many requests with this ${caller.actor.kind === 'key' ? 'API key' : 'session'}. Come back in ${retryAfterSeconds} s.`,
      retryAfterSeconds,
    });
  }

  #read(
    raw: RawRequest,
    caller: Caller,
    prepared: PreparedRoute,
  ): RouteRequest<Record<string, unknown>, Record<string, unknown>, unknown> {
    const { route } = prepared;
    this.#permit(caller, route);
    const takesKey = route.idempotencyKey === 'required' || raw.headers['idempotency-key'] !== undefined;
    const idempotencyKey = route.idempotencyKey !== undefined && takesKey ? readIdempotencyKey(raw) : '';
    this.#checkVersion(raw);
    const query = readQuery(raw.url, route.query);
    prepared.checkQuery?.(query);
    const body = readBody(raw, prepared);
    return {
      caller,
      params: raw.params,
      query,
      body,
      idempotencyKey,
      headers: raw.headers,
      url: raw.url,
      requestId: raw.requestId,
      remoteAddress: raw.remoteAddress,
    };
  }

  #permit(caller: Caller, route: Route): void {
    if (caller.actor.kind === 'key') permitKey(caller, route);
    else (this.#options.permitUser ?? permitNobody)(caller, route);
    if (route.sandboxOnly && caller.mode !== 'sandbox')
      throw new Fail('forbidden', 'Test helpers are for sandbox merchants only.');
  }

  #checkVersion(raw: RawRequest): void {
    const requested = raw.headers['x-service-version'];
    const once = !raw.repeated.has('x-service-version');
    if (requested === undefined || (once && this.#options.versions.includes(requested))) return;
    throw new Fail('invalid_request', {
      message: `X-Service-Version must be one of ${this.#options.versions.join(', ')}.`,
      param: 'X-Service-Version',
    });
  }
}

/** @throws Error (500) for an answer that breaks its own schema */
function checkAnswer(answer: Answer<unknown>, prepared: PreparedRoute): void {
  try {
    prepared.checkAnswer?.(answer.body);
  } catch (error) {
    throw new Error(`the answer of ${prepared.route.operationId} breaks its schema`, { cause: error });
  }
}

/** @throws Fail `resource_not_found` for a path parameter of the wrong form */
function checkPath(raw: RawRequest, prepared: PreparedRoute): void {
  try {
    prepared.checkParams?.(raw.params);
  } catch {
    throw new Fail('resource_not_found', 'There is nothing at this path.');
  }
}

function permitKey(caller: Caller, route: Route): void {
  if (!caller.scopes.includes(route.scope)) {
    throw new Fail('forbidden', `This API key lacks the scope "${route.scope}".`);
  }
}

function permitNobody(): never {
  throw new Fail('forbidden', 'No person is signed in here.');
}

function readIdempotencyKey(raw: RawRequest): string {
  const param = 'Idempotency-Key';
  const key = raw.headers['idempotency-key'];
  if (key === undefined) {
    throw new Fail('parameter_missing', { message: `The header ${param} is required for this call.`, param });
  }
  if (raw.repeated.has('idempotency-key')) {
    throw new Fail('invalid_request', { message: `The header ${param} is given more than once.`, param });
  }
  if (!KEY_FORM.test(key)) {
    throw new Fail('invalid_request', {
      message: `${param} must be 1 to 128 printable ASCII characters.`,
      param,
    });
  }
  return key;
}

function readBody(raw: RawRequest, prepared: PreparedRoute): unknown {
  if (raw.strayBody) throw new Fail('invalid_request', `A ${raw.method} request has no body.`);
  if (prepared.checkBody === undefined) {
    if (raw.body.length > 0) throw new Fail('invalid_request', 'This call has no body.');
    return undefined;
  }
  const value = raw.body.length === 0 ? {} : parseBody(raw);
  prepared.route.precheck?.(value);
  prepared.checkBody(value);
  return value;
}

function parseBody(raw: RawRequest): unknown {
  const encoding = raw.headers['content-encoding'];
  if (encoding !== undefined) {
    throw new Fail('unsupported_media_type', 'Content-Encoding is not supported: send the body as it is.');
  }
  const mediaType = raw.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (mediaType !== 'application/json' || raw.repeated.has('content-type')) {
    throw new Fail('unsupported_media_type', 'Content-Type must be application/json.');
  }
  try {
    return parseStrictJson(raw.body);
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    throw new Fail('invalid_request', {
      message: `The body is refused: ${error.reason}.`,
      ...(error.path === undefined || error.path === '' ? {} : { param: error.path }),
    });
  }
}
