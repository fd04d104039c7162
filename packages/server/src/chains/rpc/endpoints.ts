import type { Network } from '@florin/contract/money';
import { isLineDue, type Logger } from '../../platform/observability/index.ts';
import { createJsonPoster } from '../../platform/outbound/index.ts';
import { AnswersDiffer, ChainUnavailable } from '../port/port-errors.ts';
import { type ChainIdentity, type Endpoint, RpcEndpoint } from './endpoint.ts';
import { EndpointFailed, JSON_RPC, type RpcAnswer, type RpcWire } from './messages.ts';
import { NodeError, type NodeRequest, type RpcNode } from './node.ts';

const REST_MS = 1_000;

export interface RpcOptions {
  log: Logger;
  /** Certificate authorities (PEM) to trust beside the built-in ones. */
  ca?: string | undefined;
  /** For one exchange with one endpoint (10,000). */
  timeoutMs?: number | undefined;
  /** How long an endpoint is left alone after a first failure (1,000); 0: never. */
  restMs?: number | undefined;
}

/** How the nodes of a network answer. */
export interface RpcDialect {
  /** For errors. */
  network: Network;
  /** As the operator named it. */
  name: string;
  endpoints: readonly Endpoint[];
  identity: ChainIdentity;
  /** The call that returns an endpoint's newest height. */
  newest: HeightQuestion;
  /** JSON-RPC by default. */
  wire?: RpcWire;
  /** Two answers to the same call agree when this text is the same. */
  comparedText(method: string, answer: unknown, params: readonly unknown[]): string;
  /** Whether the node refuses because it lacks what another one may have: a block it has not seen, a state it has dropped. */
  isLacking(refusal: NodeError): boolean;
  /** Two refusals agree when this text is the same; by default the code. */
  comparedRefusal?: (this: void, refusal: NodeError) => string;
}

/** A call whose answer tells how far an endpoint is. */
export interface HeightQuestion {
  request: NodeRequest;
  /** Undefined: the answer tells nothing. */
  heightOf: (answer: unknown) => bigint | undefined;
  /** What it does not know then, for people. */
  what: string;
}

/** How far an endpoint has to be. */
export interface Reached extends HeightQuestion {
  height: bigint;
}

export interface ReachedAnswer {
  answer: unknown;
  height: bigint;
  /** Of the operator's own node: that is enough. */
  isOwn: boolean;
}

/** What an endpoint says of itself, for people. */
export interface EndpointState {
  host: string;
  isOwn: boolean;
  /** Of its newest block; null where it returns none. */
  height: bigint | null;
  /** Why there is no height. */
  problem: string | null;
}

/** The endpoints of one network: the operator's own first, then in their order. */
export class RpcEndpoints implements RpcNode {
  readonly #dialect: RpcDialect;
  readonly #endpoints: readonly RpcEndpoint[];
  readonly #log: Logger;
  readonly #close: () => Promise<void>;

  constructor(dialect: RpcDialect, { log, ca, timeoutMs, restMs = REST_MS }: RpcOptions) {
    const poster = createJsonPoster({ ca, timeoutMs });
    const { name, identity, wire = JSON_RPC } = dialect;
    const deps = { poster, log, name, identity, wire, restMs };
    const endpoints = dialect.endpoints.map((endpoint) => new RpcEndpoint(endpoint, deps));
    this.#dialect = dialect;
    this.#endpoints = endpoints.sort((a, b) => Number(b.isOwn) - Number(a.isOwn));
    this.#log = log;
    this.#close = () => poster.close();
  }

  async call(method: string, params: readonly unknown[]): Promise<unknown> {
    return only(await this.#first([{ method, params }]));
  }

  async agreed(method: string, params: readonly unknown[]): Promise<unknown> {
    return only(await this.#agree([{ method, params }]));
  }

  async callMany(requests: readonly NodeRequest[]): Promise<unknown[]> {
    return requests.length === 0 ? [] : (await this.#first(requests)).map(resultOrRefusal);
  }

  async agreedMany(requests: readonly NodeRequest[]): Promise<unknown[]> {
    return requests.length === 0 ? [] : (await this.#agree(requests)).map(resultOrRefusal);
  }

  /** As `agreedMany`, by endpoints that have reached that height. One that lags answers with an old state, and is not asked. */
  async agreedSince(since: Reached, requests: readonly NodeRequest[]): Promise<unknown[]> {
    return requests.length === 0 ? [] : (await this.#agree(requests, since)).map(resultOrRefusal);
  }

  /**
   * Returns the answers of the operator's own node alone, or those of all other endpoints that have reached that height, at least two. For
   * values that legitimately differ between endpoints.
   *
   * @throws ChainUnavailable
   */
  async witnesses(requests: readonly NodeRequest[], since: Reached): Promise<unknown[][]> {
    const failed = new Failures();
    const own = await this.#own(requests, since, failed);
    if (own !== undefined) return [own.map(resultOrRefusal)];
    const sent = await Promise.all(
      this.#usable(false).map(async (one) => failed.without(one, await sendSince(one, requests, since))),
    );
    const given = sent.filter((answers) => answers !== undefined);
    if (given.length < 2) throw this.#unavailable(requests, failed.lines, failed.cause);
    return given.map((answers) => answers.map(resultOrRefusal));
  }

  /**
   * The answer of the endpoint that is furthest, among the operator's own; with those away, the second furthest: one that
   * invents blocks, or lags, alone decides nothing.
   */
  async reached({ request, heightOf, what }: HeightQuestion): Promise<ReachedAnswer> {
    const own = await this.#heightsOf(this.#usable(true), { request, heightOf, what });
    const [highest] = own.answers;
    if (highest !== undefined) return { ...highest, isOwn: true };
    this.#requireTwo(own.failures);
    const others = await this.#heightsOf(this.#usable(false), { request, heightOf, what });
    const second = others.answers[1];
    if (second === undefined) throw this.#unavailable([request], [...own.failures, ...others.failures]);
    return { ...second, isOwn: false };
  }

  /**
   * Asks all endpoints at once, for what is to reach as many nodes as it can.
   *
   * @returns the answers of those that gave one, at least one; a refusal is its `NodeError`
   * @throws ChainUnavailable
   */
  async everywhere(request: NodeRequest): Promise<unknown[]> {
    const sent = await Promise.all(
      this.#usable().map(async (one) => [one, await send(one, [request])] as const),
    );
    const failures = sent.flatMap(([{ host }, answers]) =>
      answers instanceof EndpointFailed ? [`${host} ${answers.message}`] : [],
    );
    const given = sent.flatMap(([, answers]) => (answers instanceof EndpointFailed ? [] : answers));
    if (given.length === 0) throw this.#unavailable([request], failures);
    return given.map(resultOrRefusal);
  }

  /** How far each of them is, the operator's own first. One that rests is not asked. */
  async states(): Promise<EndpointState[]> {
    return await Promise.all(
      this.#endpoints.map(async (endpoint) => {
        const { host, isOwn, backingOff } = endpoint;
        const reached = backingOff ?? (await askHeight(endpoint, this.#dialect.newest));
        return typeof reached === 'string'
          ? { host, isOwn, height: null, problem: reached.replace(`${host} `, '') }
          : { host, isOwn, height: reached.height, problem: null };
      }),
    );
  }

  close(): Promise<void> {
    return this.#close();
  }

  #usable(isOwn?: boolean): RpcEndpoint[] {
    return this.#endpoints.filter(
      (one) => one.backingOff === undefined && (isOwn === undefined || one.isOwn === isOwn),
    );
  }

  /** The highest first. */
  async #heightsOf(endpoints: readonly RpcEndpoint[], question: HeightQuestion) {
    const reached = await Promise.all(endpoints.map((endpoint) => askHeight(endpoint, question)));
    const answers = reached.filter((one) => typeof one !== 'string');
    return {
      answers: answers.sort((a, b) => (a.height < b.height ? 1 : -1)),
      failures: reached.filter((one) => typeof one === 'string'),
    };
  }

  async #first(requests: readonly NodeRequest[]): Promise<RpcAnswer[]> {
    const failed = new Failures();
    let lacking: RpcAnswer[] | undefined;
    for (const endpoint of this.#usable()) {
      const answers = failed.without(endpoint, await send(endpoint, requests));
      if (answers === undefined) continue;
      if (!answers.some((answer) => this.#isLacking(answer))) return answers;
      lacking ??= answers;
    }
    if (lacking !== undefined) return lacking;
    throw this.#unavailable(requests, failed.lines, failed.cause);
  }

  async #agree(requests: readonly NodeRequest[], since?: Reached): Promise<RpcAnswer[]> {
    const failed = new Failures();
    const own = await this.#own(requests, since, failed);
    if (own !== undefined) return own;
    const replies: { host: string; text: string }[] = [];
    const queue = this.#usable(false);
    // Two at once; a third only where they differ, or one is away.
    for (let some = queue.splice(0, 2); some.length > 0; some = queue.splice(0, 1)) {
      const answered = await Promise.all(some.map((endpoint) => sendSince(endpoint, requests, since)));
      for (const [place, answer] of answered.entries()) {
        const endpoint = some[place];
        const answers = endpoint && failed.without(endpoint, answer);
        if (endpoint === undefined || answers === undefined) continue;
        const text = requests.map((request, i) => this.#comparedAnswer(request, answers[i])).join();
        const isAgreed = replies.some((one) => one.text === text);
        replies.push({ host: endpoint.host, text });
        if (!isAgreed) continue;
        this.#logOutvoted(requests, replies, text);
        return answers;
      }
    }
    if (replies.length < 2) throw this.#unavailable(requests, failed.lines, failed.cause);
    failed.lines.push(`${replies.map(({ host }) => host).join(' and ')} answer differently`);
    throw new AnswersDiffer(this.#dialect.network, this.#whyNone(requests, failed.lines), failed.cause);
  }

  /** Of the operator's own node; undefined: two others are to be asked. @throws ChainUnavailable where there are none */
  async #own(
    requests: readonly NodeRequest[],
    since: Reached | undefined,
    failed: Failures,
  ): Promise<RpcAnswer[] | undefined> {
    for (const own of this.#usable(true)) {
      const answers = failed.without(own, await sendSince(own, requests, since));
      if (answers !== undefined) return answers;
    }
    this.#requireTwo(failed.lines, failed.cause);
    return undefined;
  }

  #requireTwo(failures: string[], cause?: EndpointFailed): void {
    const others = this.#endpoints.filter((one) => !one.isOwn).length;
    if (others > 1) return;
    const hint =
      'one endpoint alone is not believed: configure a second one, or mark your own node with "own": true';
    const alone = others === 0 ? '' : ', and one other endpoint is not believed alone';
    const why = this.#endpoints.some(({ isOwn }) => isOwn) ? `your own node is away${alone}` : hint;
    throw new ChainUnavailable(
      this.#dialect.network,
      [why, ...failures, ...this.#describeBackingOff(failures)].join('; '),
      cause,
    );
  }

  /** Somebody was outvoted: it lies, lags or is out of order. */
  #logOutvoted(
    requests: readonly NodeRequest[],
    replies: { host: string; text: string }[],
    text: string,
  ): void {
    for (const { host } of replies.filter((one) => one.text !== text)) {
      if (isLineDue(this.#log, `outvoted ${host}`))
        this.#log.warn(
          { host, methods: methodsOf(requests) },
          'an endpoint answers differently from two others',
        );
    }
  }

  #unavailable(requests: readonly NodeRequest[], failures: readonly string[], cause?: EndpointFailed) {
    return new ChainUnavailable(this.#dialect.network, this.#whyNone(requests, failures), cause);
  }

  #whyNone(requests: readonly NodeRequest[], failures: readonly string[]): string {
    const why = [...failures, ...this.#describeBackingOff(failures)].join('; ');
    return `no usable answer to ${methodsOf(requests)}: ${why}`;
  }

  /** Why each endpoint that rests got no request; `failures` name the others. */
  #describeBackingOff(failures: readonly string[]): string[] {
    return this.#endpoints.flatMap(({ backingOff: why, host }) =>
      why === undefined || failures.some((failure) => failure.startsWith(`${host} `)) ? [] : [why],
    );
  }

  #isLacking(answer: RpcAnswer): boolean {
    return 'refusal' in answer && this.#dialect.isLacking(answer.refusal);
  }

  #comparedAnswer({ method, params }: NodeRequest, answer: RpcAnswer | undefined): string {
    if (answer === undefined) return '';
    if (!('refusal' in answer)) return this.#dialect.comparedText(method, answer.result, params);
    const { comparedRefusal = ({ code }) => String(code) } = this.#dialect;
    return `refused ${comparedRefusal(answer.refusal)}`;
  }
}

/** Endpoints that gave no answer to one question. */
class Failures {
  readonly lines: string[] = [];
  readonly #causes: EndpointFailed[] = [];

  /** Its answers; undefined: it failed, which is noted. */
  without({ host }: RpcEndpoint, answers: RpcAnswer[] | EndpointFailed): RpcAnswer[] | undefined {
    if (!(answers instanceof EndpointFailed)) return answers;
    this.lines.push(`${host} ${answers.message}`);
    this.#causes.push(answers);
    return undefined;
  }

  /** Where one endpoint found the question too large, a smaller one may help. */
  get cause(): EndpointFailed | undefined {
    const tooLarge = this.#causes.find(({ failure }) => failure === 'too_large' || failure === 'timeout');
    return tooLarge ?? this.#causes[0];
  }
}

async function send(
  endpoint: RpcEndpoint,
  requests: readonly NodeRequest[],
): Promise<RpcAnswer[] | EndpointFailed> {
  try {
    return await endpoint.send(requests);
  } catch (error) {
    if (error instanceof EndpointFailed) return error;
    throw error;
  }
}

/** How far an endpoint is; a text: why it does not tell. */
async function askHeight(
  endpoint: RpcEndpoint,
  { request, heightOf, what }: HeightQuestion,
): Promise<Omit<ReachedAnswer, 'isOwn'> | string> {
  const sent = await send(endpoint, [request]);
  if (sent instanceof EndpointFailed) return `${endpoint.host} ${sent.message}`;
  const [first] = sent;
  const answer = first !== undefined && 'result' in first ? first.result : null;
  const height = heightOf(answer);
  if (height === undefined) return `${endpoint.host} does not know ${what}`;
  endpoint.noteReached(request, height);
  return { answer, height };
}

/** As `send`; an endpoint that has not reached that height has failed this question, and may be asked others. */
async function sendSince(
  endpoint: RpcEndpoint,
  requests: readonly NodeRequest[],
  since: Reached | undefined,
): Promise<RpcAnswer[] | EndpointFailed> {
  if (since === undefined || endpoint.isKnownToReach(since.request, since.height))
    return await send(endpoint, requests);
  const sent = await send(endpoint, [since.request]);
  if (sent instanceof EndpointFailed) return sent;
  const [first] = sent;
  const height = since.heightOf(first !== undefined && 'result' in first ? first.result : null);
  if (height === undefined) return new EndpointFailed('behind', `does not know ${since.what}`);
  endpoint.noteReached(since.request, height);
  if (height < since.height)
    return new EndpointFailed('behind', `is at block ${height}, before ${since.height}`);
  return await send(endpoint, requests);
}

function only(answers: readonly RpcAnswer[]): unknown {
  const answer = resultOrRefusal(answers[0]);
  if (answer instanceof NodeError) throw answer;
  return answer;
}

function resultOrRefusal(answer: RpcAnswer | undefined): unknown {
  if (answer === undefined) return undefined;
  return 'refusal' in answer ? answer.refusal : answer.result;
}

function methodsOf(requests: readonly NodeRequest[]): string {
  return [...new Set(requests.map(({ method }) => method))].join(', ');
}
