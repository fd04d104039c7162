import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Call {
  method: string;
  params: unknown[];
}

type Refusal = { code: number; message: string } | 'cut';

/** What a whole HTTP answer can be instead of JSON-RPC. */
export type Manner =
  | 'html'
  | 'half'
  | 'nothing'
  | 'silence'
  | 'cut'
  | 'huge'
  | 'endless'
  | 'busy'
  | 'broken'
  | 'batchless'
  | 'other-json';

const MEBIBYTE = 1_048_576;
const HUGE_BYTES = 17 * MEBIBYTE;
const ENDLESS_MEBIBYTES = 100;

/** A JSON-RPC proxy in front of a node that counts calls and misbehaves as told. */
export class FaultyNode {
  /** Undefined: it passes all on. */
  manner: Manner | undefined;
  /** Seconds of Retry-After beside `busy`. */
  retryAfter: number | undefined;
  /** Blocks that it has not seen yet; 0: none. */
  lag = 0;
  chainId: number | undefined;
  /** Changes one answer; undefined leaves it as it is. Called with what the node answered, and may be slow. */
  lie: ((call: Call, result: unknown) => unknown) | undefined;
  /** Refuses a call with an error of JSON-RPC, or `cut`s the connection, and passes nothing on. */
  refuse: ((call: Call) => Refusal | undefined) | undefined;
  /** The same for a call that was passed on. */
  deny: ((call: Call) => Refusal | undefined) | undefined;
  readonly calls = new Map<string, number>();
  requests = 0;
  /** Bytes of endless answers. */
  flooded = 0;
  /** Exchanging it is another node at the same address. */
  target: string;
  readonly #server: Server;

  private constructor(target: string) {
    this.target = target;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  /** @param target the node behind; nothing of it is needed where each answer has a manner */
  static async start(target = 'http://127.0.0.1:9'): Promise<FaultyNode> {
    const node = new FaultyNode(target);
    node.#server.listen(0, '127.0.0.1');
    await once(node.#server, 'listening');
    return node;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/`;
  }

  /** Calls of that method, or all. */
  counted(method?: string): number {
    if (method !== undefined) return this.calls.get(method) ?? 0;
    return [...this.calls.values()].reduce((sum, count) => sum + count, 0);
  }

  /** As if it had just started. */
  behave(): void {
    this.manner = undefined;
    this.retryAfter = undefined;
    this.lag = 0;
    this.chainId = undefined;
    this.lie = undefined;
    this.refuse = undefined;
    this.deny = undefined;
  }

  forget(): void {
    this.calls.clear();
    this.requests = 0;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const body: unknown = JSON.parse(await textOf(request));
      const calls = (Array.isArray(body) ? body : [body]) as (Call & { id: unknown })[];
      this.requests += 1;
      for (const { method } of calls) this.calls.set(method, this.counted(method) + 1);
      if (this.#misbehave(request, response, Array.isArray(body))) return;
      const answers = await Promise.all(
        calls.map(async ({ id, ...call }) => ({ jsonrpc: '2.0', id, ...(await this.#answer(call)) })),
      );
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]));
    } catch {
      response.destroy();
    }
  }

  #misbehave(request: IncomingMessage, response: ServerResponse, isBatch: boolean): boolean {
    const answers: Record<Manner, () => void> = {
      html: () => response.end('<!doctype html><h1>502 Bad Gateway</h1>'),
      half: () => response.end('{"jsonrpc":"2.0","id":0,"resu'),
      nothing: () => response.end(),
      silence: () => {},
      cut: () => request.socket.destroy(),
      huge: () => response.end(`{"jsonrpc":"2.0","id":0,"result":"${'a'.repeat(HUGE_BYTES)}"}`),
      endless: () => void this.#flood(response),
      busy: () => {
        if (this.retryAfter !== undefined) response.setHeader('retry-after', this.retryAfter);
        response.writeHead(429).end('slow down');
      },
      broken: () => response.writeHead(503).end('away'),
      batchless: () =>
        response.end('{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no batches"}}'),
      'other-json': () => response.end('{"status":"ok"}'),
    };
    if (this.manner === undefined || (this.manner === 'batchless' && !isBatch)) return false;
    answers[this.manner]();
    return true;
  }

  /** 100 MB without a length, as fast as they are taken. */
  async #flood(response: ServerResponse): Promise<void> {
    response.write('{"jsonrpc":"2.0","id":0,"result":"');
    for (let i = 0; i < ENDLESS_MEBIBYTES && !response.destroyed; i++) {
      this.flooded += MEBIBYTE;
      response.write('a'.repeat(MEBIBYTE));
      while (response.writableNeedDrain && !response.destroyed) await sleep(1);
    }
    response.end('"}');
  }

  async #answer(call: Call): Promise<object> {
    const refusal = this.refuse?.(call);
    if (refusal !== undefined) return errorOf(refusal);
    if (call.method === 'eth_chainId' && this.chainId !== undefined)
      return { result: `0x${this.chainId.toString(16)}` };
    const answer = this.lag === 0 ? await this.#pass(call) : await this.#passLate(call);
    const denial = this.deny?.(call);
    if (denial !== undefined) return errorOf(denial);
    if (this.lie === undefined || !('result' in answer)) return answer;
    const changed = await this.lie(call, answer.result);
    return { result: changed === undefined ? answer.result : changed };
  }

  async #pass({ method, params }: Call): Promise<object> {
    const response = await fetch(this.target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const { result, error } = (await response.json()) as { result?: unknown; error?: unknown };
    return error === undefined ? { result: result ?? null } : { error };
  }

  /** As if the newest blocks were not there yet. */
  async #passLate(call: Call): Promise<object> {
    const newest = (await this.#heightOf('latest')) - this.lag;
    const params = await Promise.all(call.params.map((param) => this.#backDate(param, newest)));
    const height = Math.max(...params.map((param) => heightIn(param)));
    if (height > newest) {
      if (call.method === 'eth_getBlockByNumber') return { result: null };
      if (call.method !== 'eth_getLogs') return { error: { code: -32000, message: 'header not found' } };
    }
    const answer = await this.#pass({ method: call.method, params });
    if (!('result' in answer)) return answer;
    return { result: withoutNewer(answer.result, newest) };
  }

  async #heightOf(tag: string): Promise<number> {
    const answer = await this.#pass({ method: 'eth_getBlockByNumber', params: [tag, false] });
    return 'result' in answer ? heightIn((answer.result as { number: string }).number) : 0;
  }

  async #backDate(param: unknown, newest: number): Promise<unknown> {
    if (param === 'latest' || param === 'pending') return `0x${newest.toString(16)}`;
    if (param !== 'finalized') return param;
    return `0x${Math.max(0, (await this.#heightOf('finalized')) - this.lag).toString(16)}`;
  }
}

/** @throws if the connection is to be cut */
function errorOf(refusal: Refusal): object {
  if (refusal === 'cut') throw new Error('cut');
  return { error: refusal };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}

/** A block number; -1 for everything else. Hashes and addresses are longer. */
function heightIn(value: unknown): number {
  return typeof value === 'string' && /^0x[0-9a-f]{1,12}$/.test(value) ? Number(value) : -1;
}

function withoutNewer(result: unknown, newest: number): unknown {
  if (Array.isArray(result)) return result.filter((one) => withoutNewer(one, newest) !== null);
  if (typeof result !== 'object' || result === null) return result;
  const { number, blockNumber } = result as { number?: unknown; blockNumber?: unknown };
  return Math.max(heightIn(number), heightIn(blockNumber)) > newest ? null : result;
}
