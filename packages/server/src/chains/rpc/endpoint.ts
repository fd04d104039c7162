import type { Logger } from '../../platform/observability/index.ts';
import { type JsonPoster, UrlUnread } from '../../platform/outbound/index.ts';
import { EndpointFailed, type RpcAnswer, type RpcPatience, type RpcWire } from './messages.ts';
import { NodeError, type NodeRequest } from './node.ts';
import { slicesOf } from './slices.ts';

/** Providers take at least so many calls in a batch. */
const BATCH_MAX = 100;
const SINGLES_AT_ONCE = 8;
/** Of one exchange, and of all answers that are read at once. */
const BYTES_MAX = 16_777_216;
const VERIFY_EVERY_MS = 3_600_000;
const REST_MAX_MS = 60_000;
const STATUS_BUSY = 429;
const STATUS_TOO_LARGE = 413;
const STATUS_BROKEN = 500;

export interface Endpoint {
  /** May hold a key: never logged. */
  url: string;
  /** The operator's own node: its word alone is enough. */
  isOwn: boolean;
  /** Where it serves final blocks, if that is elsewhere. */
  solidUrl?: string;
}

/** By what an endpoint shows which chain it serves. */
export interface ChainIdentity {
  requests: readonly NodeRequest[];
  /** What chain the answers show, where it is another one: "serves …". */
  findWrong(answers: readonly RpcAnswer[]): string | undefined;
  /** The fields of the networks file that it is compared with, for people. */
  fields: string;
}

export interface EndpointDeps {
  poster: JsonPoster;
  log: Logger;
  /** As the operator named the network. */
  name: string;
  identity: ChainIdentity;
  wire: RpcWire;
  /** How long it is left alone after a first failure; twice as long after each further one, to a minute. */
  restMs: number;
}

/** How long the height that an operator's own node has told stands: a block of Tron, where states are asked for with it. */
const REACHED_MS = 3_000;

const nameOf = ({ method, params }: NodeRequest) => `${method} ${JSON.stringify(params)}`;

/** One node. It is left alone for a while after it failed, and for a minute where it serves another chain. */
export class RpcEndpoint {
  /** What people see of it: its URL may hold a key. */
  readonly host: string;
  readonly isOwn: boolean;
  readonly #url: string;
  readonly #solidUrl: string;
  readonly #deps: EndpointDeps;
  #takesBatches: boolean;
  #failures = 0;
  #lastFailure = '';
  #restsUntilMs = 0;
  #verifiedAtMs: number | undefined;
  readonly #reached = new Map<string, { height: bigint; atMs: number }>();
  #verifying: Promise<void> | undefined;
  #isWrong = false;

  constructor({ url, isOwn, solidUrl = url }: Endpoint, deps: EndpointDeps) {
    this.#url = url;
    this.#solidUrl = solidUrl;
    this.#deps = deps;
    this.isOwn = isOwn;
    this.#takesBatches = deps.wire.takesBatches;
    this.host = new URL(url).host;
  }

  /** Why it is left alone, for people; undefined where it may be asked. */
  get backingOff(): string | undefined {
    const left = this.#restsUntilMs - performance.now();
    if (left <= 0) return undefined;
    return `${this.host} ${this.#lastFailure}: it is left alone for ${Math.ceil(left / 1000)} s`;
  }

  /** Remembers the height that this endpoint has answered to that request. */
  noteReached(request: NodeRequest, height: bigint): void {
    this.#reached.set(nameOf(request), { height, atMs: performance.now() });
  }

  /**
   * Whether this is the operator's own node and it has answered such a height in the last three seconds: its states are then as new. A provider's
   * address stands for many nodes, and the next one may be behind, so it never counts.
   */
  isKnownToReach(request: NodeRequest, height: bigint): boolean {
    const known = this.#reached.get(nameOf(request));
    if (!this.isOwn || known === undefined) return false;
    return known.height >= height && performance.now() - known.atMs < REACHED_MS;
  }

  /**
   * The answers in the order of the requests, once the node has shown that it serves this chain.
   *
   * @throws EndpointFailed, after which it rests
   */
  async send(requests: readonly NodeRequest[]): Promise<RpcAnswer[]> {
    try {
      await this.#verify();
      const [first] = requests;
      const patience =
        first?.isLarge === true && requests.length === 1 ? this.#deps.wire.patience?.(first) : undefined;
      const answers = await (patience === undefined
        ? this.#sendAll(requests)
        : this.#sendPatiently(requests, patience));
      this.#failures = 0;
      return answers;
    } catch (error) {
      throw this.#failed(error);
    }
  }

  async #sendPatiently(
    requests: readonly NodeRequest[],
    { timeoutMs, isDivisible }: RpcPatience,
  ): Promise<RpcAnswer[]> {
    try {
      return await this.#exchange(requests, { timeoutMs });
    } catch (error) {
      const isGivenUp =
        error instanceof EndpointFailed && (error.failure === 'timeout' || error.failure === 'broken');
      if (!isDivisible || !isGivenUp) throw error;
      throw new EndpointFailed('too_large', `${error.message}: it may be too large`);
    }
  }

  #failed(error: unknown): unknown {
    if (!(error instanceof EndpointFailed)) return error;
    // A large answer is the question's fault.
    if (error.failure === 'too_large') return error;
    const { restMs } = this.#deps;
    const backOffMs = Math.min(restMs * 2 ** Math.min(this.#failures, 16), REST_MAX_MS);
    const askedMs = restMs === 0 ? 0 : Math.min((error.retryAfter ?? 0) * 1000, REST_MAX_MS);
    const isWrong = error.failure === 'wrong_chain';
    this.#failures += 1;
    this.#lastFailure = error.message;
    this.#restsUntilMs = performance.now() + (isWrong ? REST_MAX_MS : Math.max(backOffMs, askedMs));
    // Another node may answer at the same URL when it is back.
    this.#reached.clear();
    if (error.failure !== 'busy' && error.failure !== 'broken') this.#verifiedAtMs = undefined;
    return error;
  }

  /** Chain and genesis, at first, each hour and after each failure. */
  async #verify(): Promise<void> {
    const isFresh =
      this.#verifiedAtMs !== undefined && performance.now() - this.#verifiedAtMs < VERIFY_EVERY_MS;
    if (isFresh) return;
    this.#verifying ??= this.#verifyNow().finally(() => {
      this.#verifying = undefined;
    });
    await this.#verifying;
  }

  async #verifyNow(): Promise<void> {
    const { name, identity, log } = this.#deps;
    const wrong = identity.findWrong(await this.#sendAll(identity.requests));
    if (wrong !== undefined) {
      const message = `${wrong}: correct its URL, or ${identity.fields}`;
      if (!this.#isWrong) log.error({ host: this.host }, `${name}: ${this.host} ${message}. It is not used.`);
      this.#isWrong = true;
      throw new EndpointFailed('wrong_chain', message);
    }
    if (this.#isWrong) log.info({ host: this.host }, `${name}: ${this.host} serves this chain again`);
    this.#isWrong = false;
    this.#verifiedAtMs = performance.now();
  }

  async #sendAll(requests: readonly NodeRequest[]): Promise<RpcAnswer[]> {
    const answers: RpcAnswer[] = [];
    for (const part of slicesOf(requests, BATCH_MAX)) answers.push(...(await this.#sendPart(part)));
    return answers;
  }

  async #sendPart(requests: readonly NodeRequest[]): Promise<RpcAnswer[]> {
    if (requests.length === 1 || this.#takesBatches) {
      try {
        return await this.#exchange(requests);
      } catch (error) {
        const isRefused = error instanceof EndpointFailed && error.failure === 'not_json_rpc';
        if (requests.length === 1 || !isRefused) throw error;
        this.#takesBatches = false;
      }
    }
    const answers: RpcAnswer[] = [];
    for (const some of slicesOf(requests, SINGLES_AT_ONCE)) answers.push(...(await this.#sendSingles(some)));
    return answers;
  }

  /** Answers that are read at once are small; a larger one is read again, alone. */
  async #sendSingles(requests: readonly NodeRequest[]): Promise<RpcAnswer[]> {
    const small = await Promise.all(
      requests.map(async (one) => {
        try {
          return await this.#exchange([one], {
            bytesMax: BYTES_MAX / SINGLES_AT_ONCE,
            timeoutMs: this.#timeoutOf(one),
          });
        } catch (error) {
          if (error instanceof EndpointFailed && error.failure === 'too_large') return undefined;
          throw error;
        }
      }),
    );
    const answers: RpcAnswer[] = [];
    for (const [i, one] of requests.entries())
      answers.push(...(small[i] ?? (await this.#exchange([one], { timeoutMs: this.#timeoutOf(one) }))));
    return answers;
  }

  #timeoutOf(request: NodeRequest): number | undefined {
    return request.isLarge === true ? this.#deps.wire.patience?.(request)?.timeoutMs : undefined;
  }

  async #exchange(
    requests: readonly NodeRequest[],
    { bytesMax, timeoutMs }: { bytesMax?: number; timeoutMs?: number | undefined } = {},
  ): Promise<RpcAnswer[]> {
    const { wire } = this.#deps;
    const [first] = requests;
    const alone = first !== undefined && requests.length === 1 ? wire.answerMax?.(first) : undefined;
    const most = bytesMax ?? alone ?? BYTES_MAX;
    const { status, retryAfter, body } = await this.#post(
      below(wire.usesSolidUrl?.(requests) === true ? this.#solidUrl : this.#url, wire.path(requests)),
      wire.write(requests),
      { bytesMax: most, timeoutMs },
    );
    if (status === STATUS_BUSY)
      throw new EndpointFailed('busy', 'limits the rate of calls (429)', retryAfter);
    if (status === STATUS_TOO_LARGE) throw new EndpointFailed('too_large', `answered ${status}`);
    if (status >= STATUS_BROKEN) throw new EndpointFailed('broken', `answered ${status}`, retryAfter);
    if (status !== 200 && first?.isOptional === true)
      return requests.map(() => ({ refusal: new NodeError(status, `answered ${status}`) }));
    if (status !== 200 && !(wire.takesErrorStatus && body.startsWith('{')))
      throw new EndpointFailed('status', `answered ${status}`);
    return wire.read(body, requests.length).map((answer, i) => {
      const request = requests[i];
      if (request === undefined || wire.reduce === undefined || 'refusal' in answer) return answer;
      return { result: wire.reduce(request, answer.result) };
    });
  }

  async #post(url: string, json: string, limits: { bytesMax: number; timeoutMs: number | undefined }) {
    const { bytesMax } = limits;
    try {
      return await this.#deps.poster.post(url, json, limits);
    } catch (error) {
      if (!(error instanceof UrlUnread)) throw error;
      throw unread(error, bytesMax);
    }
  }
}

function below(url: string, path: string): string {
  if (path === '') return url;
  const whole = new URL(url);
  whole.pathname = `${whole.pathname.replace(/\/$/, '')}/${path}`;
  return whole.href;
}

function unread({ failure }: UrlUnread, bytesMax: number): EndpointFailed {
  if (failure === 'timeout') return new EndpointFailed('timeout', 'did not answer in time');
  if (failure === 'too_large')
    return new EndpointFailed('too_large', `answered with more than ${bytesMax / 1_048_576} MiB`);
  if (failure === 'not_utf8') return new EndpointFailed('not_json', 'answered something else than JSON');
  return new EndpointFailed('connection', 'cannot be reached');
}
