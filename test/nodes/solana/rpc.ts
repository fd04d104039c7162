import { Faults } from '../faults.ts';
import { type Answer, type Listening, listen, type NodeRequest } from '../http-server.ts';
import { ACCOUNT_CALLS } from './account-calls.ts';
import { BLOCK_CALLS } from './block-calls.ts';
import type { SolanaChain } from './chain.ts';
import { RpcError } from './errors.ts';
import type { Params } from './params.ts';
import { TRANSACTION_CALLS } from './transaction-calls.ts';
import { View } from './view.ts';

type Call = (view: View, params: Params) => unknown;

const CALLS = new Map<string, Call>(
  Object.entries({ ...ACCOUNT_CALLS, ...BLOCK_CALLS, ...TRANSACTION_CALLS }),
);

/** A URL of a chain: what it has seen of it, and what goes wrong there. */
export interface Endpoint extends Listening {
  view: View;
  faults: Faults;
}

export interface EndpointOptions {
  port?: number;
  /** Called after a transaction was taken. */
  sent: () => void;
}

/** Serves a chain's JSON-RPC on 127.0.0.1; several endpoints may show the same chain. */
export async function openEndpoint(chain: SolanaChain, { port, sent }: EndpointOptions): Promise<Endpoint> {
  const view = new View(chain, sent);
  const faults = new Faults();
  const handler = {
    methodOf: ({ text }: NodeRequest) => methodOf(text),
    limited: ({ text }: NodeRequest) => limited(text),
    answer: ({ verb, text }: NodeRequest) => {
      if (verb !== 'POST')
        return { status: 405, body: 'Used HTTP Method is not allowed. POST or OPTIONS is required' };
      return answerText(view, text);
    },
  };
  return { ...(await listen(handler, faults, port)), view, faults };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function methodOf(text: string): string {
  const asked = parse(text);
  if (Array.isArray(asked)) return 'batch';
  return isObject(asked) && typeof asked.method === 'string' ? asked.method : '';
}

/** As public endpoints answer who calls too often. */
function limited(text: string): Answer {
  const asked = parse(text);
  const error = { code: 429, message: 'Too many requests for a specific RPC call' };
  return { status: 429, body: { jsonrpc: '2.0', error, id: isObject(asked) ? asked.id : null } };
}

function answerText(view: View, text: string): Answer {
  const asked = parse(text);
  if (asked === undefined) return { status: 200, body: failure(null, new RpcError(-32_700, 'Parse error')) };
  if (!Array.isArray(asked)) return { status: 200, body: answerOne(view, asked) };
  if (asked.length === 0)
    return { status: 200, body: failure(null, new RpcError(-32_600, 'Invalid request')) };
  return { status: 200, body: asked.map((one: unknown) => answerOne(view, one)) };
}

function answerOne(view: View, asked: unknown) {
  const id = isObject(asked) ? (asked.id ?? null) : null;
  try {
    if (!isObject(asked) || asked.jsonrpc !== '2.0' || typeof asked.method !== 'string')
      throw new RpcError(-32_600, 'Invalid request');
    const call = CALLS.get(asked.method);
    if (call === undefined) throw new RpcError(-32_601, 'Method not found');
    const { params = [] } = asked;
    if (!Array.isArray(params)) throw new RpcError(-32_602, '`params` should be an array');
    return { jsonrpc: '2.0', result: call(view, params), id };
  } catch (error) {
    return failure(id, error);
  }
}

function failure(id: unknown, error: unknown) {
  const known = error instanceof RpcError ? error : new RpcError(-32_603, 'Internal error');
  if (!(error instanceof RpcError)) console.error(error);
  const { code, message, data } = known;
  return { jsonrpc: '2.0', error: { code, message, ...(data !== undefined && { data }) }, id };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
