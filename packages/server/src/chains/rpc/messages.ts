import { ChainUnavailable } from '../port/port-errors.ts';
import { NodeError, type NodeRequest } from './node.ts';

/** Why an endpoint gave no answer. Neither it nor the error contains the URL, which may hold a key. */
export type RpcFailure =
  | 'timeout'
  | 'connection'
  | 'busy'
  | 'broken'
  | 'status'
  | 'too_large'
  | 'not_json'
  | 'not_json_rpc'
  | 'wrong_chain'
  | 'behind';

/** The endpoint's answer cannot be used, or there is none. */
export class EndpointFailed extends Error {
  readonly failure: RpcFailure;
  /** Seconds that it asks to be left alone. */
  readonly retryAfter: number | undefined;

  constructor(failure: RpcFailure, message: string, retryAfter?: number) {
    super(message);
    this.failure = failure;
    this.retryAfter = retryAfter;
  }
}

/** Whether a network gave no answer because it was too large for one exchange, or came too late: a smaller question may help. */
export function isAnswerTooLarge(error: unknown): boolean {
  if (!(error instanceof ChainUnavailable) || !(error.cause instanceof EndpointFailed)) return false;
  return error.cause.failure === 'too_large' || error.cause.failure === 'timeout';
}

/** As `isAnswerTooLarge`, or as a gateway gave it up. */
export function mayBeTooLarge(error: unknown): error is ChainUnavailable {
  const isBroken =
    error instanceof ChainUnavailable &&
    error.cause instanceof EndpointFailed &&
    error.cause.failure === 'broken';
  return isBroken || isAnswerTooLarge(error);
}

/** Whether an endpoint said so, or gave up a question that had time. */
export const isSurelyTooLarge = ({ cause }: ChainUnavailable): boolean =>
  cause instanceof EndpointFailed && cause.failure === 'too_large';

/** The result of one call, or the node's refusal. */
export type RpcAnswer = { result: unknown } | { refusal: NodeError };

export interface RpcPatience {
  /** For the whole exchange. */
  timeoutMs: number;
  /** The caller can ask for parts instead: a timeout or a gateway error counts as a too large answer. */
  isDivisible: boolean;
}

/** How calls travel to a node and back, over HTTP. */
export interface RpcWire {
  /** Whether one exchange may hold several calls. */
  readonly takesBatches: boolean;
  /** Whether an object is an answer whatever the status of HTTP: some nodes give errors of JSON-RPC with a status of 400. */
  readonly takesErrorStatus: boolean;
  /** Below the URL of the endpoint. */
  path(requests: readonly NodeRequest[]): string;
  /** Whether these go to the endpoint's `solidUrl`, if it has one. */
  usesSolidUrl?(requests: readonly NodeRequest[]): boolean;
  write(requests: readonly NodeRequest[]): string;
  /**
   * The answers in the order of the requests.
   *
   * @throws EndpointFailed where one is missing, or the body is something else
   */
  read(body: string, count: number): RpcAnswer[];
  /** What is kept of a result, so that no large answer is held while others are read: what is read of it later, spelled one way. */
  reduce?(request: NodeRequest, result: unknown): unknown;
  /** For a request that `isLarge` and is alone. */
  patience?(request: NodeRequest): RpcPatience | undefined;
  /** The most bytes of an answer that is read alone (16 MiB). */
  answerMax?(request: NodeRequest): number | undefined;
}

export const JSON_RPC: RpcWire = {
  takesBatches: true,
  takesErrorStatus: true,
  path: () => '',
  write: writeRequests,
  read: readAnswers,
};

/** One request stands alone, several are a batch. Ids are the places. */
function writeRequests(requests: readonly NodeRequest[]): string {
  const calls = requests.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }));
  return JSON.stringify(calls.length === 1 ? calls[0] : calls);
}

function readAnswers(body: string, count: number): RpcAnswer[] {
  const parsed = parseBody(body);
  const given: unknown[] = Array.isArray(parsed) ? parsed : [parsed];
  const answers: (RpcAnswer | undefined)[] = Array.from({ length: count });
  for (const one of given) {
    const { id, answer } = readAnswer(one);
    // A node that refuses a batch as a whole answers with one error, whose id is null.
    if (id === null && 'refusal' in answer) throw refusedAll(answer.refusal);
    if (typeof id === 'number' && id >= 0 && id < count) answers[id] = answer;
  }
  return answers.map((answer) => {
    if (answer === undefined) throw new EndpointFailed('not_json_rpc', 'left a call without an answer');
    return answer;
  });
}

/** @throws EndpointFailed */
export function parseBody(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    const what = body === '' ? 'nothing' : /^\s*</.test(body) ? 'HTML' : 'something else than JSON';
    throw new EndpointFailed('not_json', `answered ${what}`);
  }
}

function readAnswer(value: unknown): { id: unknown; answer: RpcAnswer } {
  if (typeof value !== 'object' || value === null || !('jsonrpc' in value))
    throw new EndpointFailed('not_json_rpc', 'answered something else than JSON-RPC');
  const id: unknown = 'id' in value ? value.id : null;
  if ('error' in value && typeof value.error === 'object' && value.error !== null) {
    const refusal = readRefusal(value.error);
    if (isBusy(refusal)) throw new EndpointFailed('busy', 'limits the rate of calls');
    return { id, answer: { refusal } };
  }
  if (!('result' in value)) throw new EndpointFailed('not_json_rpc', 'answered neither result nor error');
  return { id, answer: { result: value.result } };
}

function readRefusal(error: object): NodeError {
  const code = 'code' in error && typeof error.code === 'number' ? error.code : 0;
  const message = 'message' in error ? String(error.message) : 'no message';
  return new NodeError(code, withoutUrls(message), 'data' in error ? error.data : undefined);
}

/** Providers say so with status 200, too. "More than 10,000 results" has the same code and is no limit of the rate. */
function isBusy({ code, message }: NodeError): boolean {
  return (
    code === 429 || /rate.?limit|too many requests|requests? per second|compute units|credits/i.test(message)
  );
}

function refusedAll({ message }: NodeError): EndpointFailed {
  return new EndpointFailed('not_json_rpc', `refused a batch of calls (${message})`);
}

/** A node's text for people: some quote the URL that was called. */
export function withoutUrls(text: string): string {
  return text.replace(/\b[a-z]+:\/\/\S+/gi, '(a URL)').slice(0, 300);
}
