import type { Network } from '@florin/contract/money';
import { isLineDue, type Logger } from '../../platform/observability/index.ts';
import { createJsonPoster } from '../../platform/outbound/index.ts';
import { ChainUnavailable } from '../port/port-errors.ts';
import { comparedText } from './compared.ts';
import { RpcEndpoint } from './endpoint.ts';
import type { EvmNetwork } from './network.ts';
import { type EvmNode, NodeError, type NodeRequest } from './node.ts';
import { EndpointFailed, type RpcAnswer } from './rpc.ts';

const REST_MS = 1_000;
/** The node lacks what another one may have: a block it has not seen, a state it has dropped. */
const PAST = /header|block|state|history|trie node/i;
const ABSENT = /not (?:found|available|exist)|missing|unknown block/i;
const PRUNED = /pruned/i;

export interface RpcOptions {
  log: Logger;
  /** Certificate authorities (PEM) to trust beside the built-in ones. */
  ca?: string | undefined;
  /** For one exchange with one endpoint (10,000). */
  timeoutMs?: number | undefined;
  /** How long an endpoint is left alone after a first failure (1,000); 0: never. */
  restMs?: number | undefined;
}

type NetworkPart = Pick<EvmNetwork, 'name' | 'chainId' | 'genesisHash' | 'endpoints'>;

/** The endpoints of one network: the operator's own first, then in their order. */
export class RpcEndpoints implements EvmNode {
  readonly #network: Network = 'erc20';
  readonly #endpoints: readonly RpcEndpoint[];
  readonly #log: Logger;
  readonly #close: () => Promise<void>;

  constructor(network: NetworkPart, { log, ca, timeoutMs, restMs = REST_MS }: RpcOptions) {
    const poster = createJsonPoster({ ca, timeoutMs });
    const deps = { poster, log, network, restMs };
    const endpoints = network.endpoints.map((endpoint) => new RpcEndpoint(endpoint, deps));
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

  async newest(tag: 'latest' | 'finalized'): Promise<unknown> {
    const request = { method: 'eth_getBlockByNumber', params: [tag, false] };
    const own = await this.#headsOf(this.#usable(true), request);
    // With the operator's own node away, the second highest: one that invents blocks, or lags, alone decides nothing.
    const others = own.heads.length > 0 ? [] : await this.#othersOf(request, own.failures);
    const [highest] = own.heads;
    if (highest !== undefined) return highest.block;
    const second = others[1];
    if (second === undefined) throw this.#unavailable([request], own.failures);
    if (tag === 'latest') return second.block;
    return await this.agreed('eth_getBlockByNumber', [`0x${second.height.toString(16)}`, false]);
  }

  close(): Promise<void> {
    return this.#close();
  }

  #usable(isOwn?: boolean): RpcEndpoint[] {
    return this.#endpoints.filter(
      (one) => one.backingOff === undefined && (isOwn === undefined || one.isOwn === isOwn),
    );
  }

  async #othersOf(request: NodeRequest, failures: string[]): Promise<Head[]> {
    const others = this.#usable(false);
    this.#requireTwo(failures);
    const answered = await this.#headsOf(others, request);
    failures.push(...answered.failures);
    return answered.heads;
  }

  /** The highest first. */
  async #headsOf(endpoints: readonly RpcEndpoint[], request: NodeRequest) {
    const failures: string[] = [];
    const heads = await Promise.all(
      endpoints.map(async (endpoint): Promise<Head[]> => {
        const answers = await send(endpoint, [request]);
        if (answers instanceof EndpointFailed) {
          failures.push(`${endpoint.host} ${answers.message}`);
          return [];
        }
        const [answer] = answers;
        const block = answer !== undefined && 'result' in answer ? answer.result : null;
        const height = heightOf(block);
        if (height === undefined)
          failures.push(`${endpoint.host} does not know its ${String(request.params[0])} block`);
        return height === undefined ? [] : [{ block, height }];
      }),
    );
    return { heads: heads.flat().sort((a, b) => (a.height < b.height ? 1 : -1)), failures };
  }

  async #first(requests: readonly NodeRequest[]): Promise<RpcAnswer[]> {
    const failures: string[] = [];
    const causes: EndpointFailed[] = [];
    let lacking: RpcAnswer[] | undefined;
    for (const endpoint of this.#usable()) {
      const answers = await send(endpoint, requests);
      if (answers instanceof EndpointFailed) {
        failures.push(`${endpoint.host} ${answers.message}`);
        causes.push(answers);
      } else if (answers.some(isLacking)) lacking ??= answers;
      else return answers;
    }
    if (lacking !== undefined) return lacking;
    throw this.#unavailable(requests, failures, mostUsefulCause(causes));
  }

  async #agree(requests: readonly NodeRequest[]): Promise<RpcAnswer[]> {
    const failures: string[] = [];
    const causes: EndpointFailed[] = [];
    const note = (endpoint: RpcEndpoint, failed: EndpointFailed) => {
      failures.push(`${endpoint.host} ${failed.message}`);
      causes.push(failed);
    };
    for (const own of this.#usable(true)) {
      const answers = await send(own, requests);
      if (!(answers instanceof EndpointFailed)) return answers;
      note(own, answers);
    }
    this.#requireTwo(failures);
    const replies: { host: string; text: string }[] = [];
    const queue = this.#usable(false);
    // Two at once; a third only where they differ, or one is away.
    for (let some = queue.splice(0, 2); some.length > 0; some = queue.splice(0, 1)) {
      const answered = await Promise.all(some.map((endpoint) => send(endpoint, requests)));
      for (const [place, answers] of answered.entries()) {
        const endpoint = some[place];
        if (endpoint === undefined) continue;
        if (answers instanceof EndpointFailed) {
          note(endpoint, answers);
          continue;
        }
        const text = requests.map(({ method }, i) => comparedAnswer(method, answers[i])).join();
        const isAgreed = replies.some((one) => one.text === text);
        replies.push({ host: endpoint.host, text });
        if (!isAgreed) continue;
        this.#logOutvoted(requests, replies, text);
        return answers;
      }
    }
    if (replies.length > 1)
      failures.push(`${replies.map(({ host }) => host).join(' and ')} answer differently`);
    throw this.#unavailable(requests, failures, mostUsefulCause(causes));
  }

  #requireTwo(failures: string[]): void {
    const others = this.#endpoints.filter((one) => !one.isOwn).length;
    if (others > 1) return;
    const hint =
      'one endpoint alone is not believed: configure a second one, or mark your own node with "own": true';
    const alone = others === 0 ? '' : ', and one other endpoint is not believed alone';
    const why = this.#endpoints.some(({ isOwn }) => isOwn) ? `your own node is away${alone}` : hint;
    throw new ChainUnavailable(
      this.#network,
      [why, ...failures, ...this.#describeBackingOff(failures)].join('; '),
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
    const why = [...failures, ...this.#describeBackingOff(failures)].join('; ');
    return new ChainUnavailable(this.#network, `no usable answer to ${methodsOf(requests)}: ${why}`, cause);
  }

  /** Why each endpoint that rests got no request; `failures` name the others. */
  #describeBackingOff(failures: readonly string[]): string[] {
    return this.#endpoints.flatMap(({ backingOff: why, host }) =>
      why === undefined || failures.some((failure) => failure.startsWith(`${host} `)) ? [] : [why],
    );
  }
}

/** Where one endpoint found the question too large, a smaller one may help. */
function mostUsefulCause(causes: readonly EndpointFailed[]): EndpointFailed | undefined {
  return causes.find(({ failure }) => failure === 'too_large' || failure === 'timeout') ?? causes[0];
}

interface Head {
  block: unknown;
  height: bigint;
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

function only(answers: readonly RpcAnswer[]): unknown {
  const answer = resultOrRefusal(answers[0]);
  if (answer instanceof NodeError) throw answer;
  return answer;
}

function resultOrRefusal(answer: RpcAnswer | undefined): unknown {
  if (answer === undefined) return undefined;
  return 'refusal' in answer ? answer.refusal : answer.result;
}

function isLacking(answer: RpcAnswer): boolean {
  if (!('refusal' in answer)) return false;
  const { message } = answer.refusal;
  return PRUNED.test(message) || (PAST.test(message) && ABSENT.test(message));
}

function comparedAnswer(method: string, answer: RpcAnswer | undefined): string {
  if (answer === undefined) return '';
  return 'refusal' in answer ? `refused ${answer.refusal.code}` : comparedText(method, answer.result);
}

function heightOf(block: unknown): bigint | undefined {
  if (typeof block !== 'object' || block === null || !('number' in block)) return undefined;
  const { number } = block;
  return typeof number === 'string' && /^0x[0-9a-f]{1,15}$/i.test(number) ? BigInt(number) : undefined;
}

function methodsOf(requests: readonly NodeRequest[]): string {
  return [...new Set(requests.map(({ method }) => method))].join(', ');
}
