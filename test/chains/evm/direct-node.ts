import { keccak256 } from 'viem';
import type { EvmNode } from '../../../packages/server/src/chains/evm/node.ts';
import { ChainUnavailable } from '../../../packages/server/src/chains/port/port.ts';
import { NodeError } from '../../../packages/server/src/chains/rpc/node.ts';

/** One endpoint that is our own, without failover: what it says counts. */
export class DirectNode implements EvmNode {
  readonly url: string;
  #losing = 0;
  /** Methods that were called, in order. */
  readonly calls: string[] = [];

  constructor(url: string) {
    this.url = url;
  }

  /** The next broadcast is lost although the node accepts it. */
  dropNext(): void {
    this.#losing += 1;
  }

  async call(method: string, params: readonly unknown[]): Promise<unknown> {
    this.calls.push(method);
    if (method === 'eth_sendRawTransaction' && this.#losing > 0) {
      this.#losing -= 1;
      return keccak256(`0x${String(params[0]).slice(2)}`);
    }
    const [answer] = await this.#post([{ method, params }]);
    if (answer instanceof NodeError) throw answer;
    return answer;
  }

  async agreed(method: string, params: readonly unknown[]): Promise<unknown> {
    return await this.call(method, params);
  }

  async callMany(requests: readonly { method: string; params: readonly unknown[] }[]): Promise<unknown[]> {
    return await this.#post(requests);
  }

  async agreedMany(requests: readonly { method: string; params: readonly unknown[] }[]): Promise<unknown[]> {
    return await this.#post(requests);
  }

  async agreedFrom(
    _height: bigint,
    requests: readonly { method: string; params: readonly unknown[] }[],
  ): Promise<unknown[]> {
    return await this.agreedMany(requests);
  }

  async newest(tag: 'latest' | 'finalized'): Promise<unknown> {
    return await this.call('eth_getBlockByNumber', [tag, false]);
  }

  async #post(requests: readonly { method: string; params: readonly unknown[] }[]): Promise<unknown[]> {
    if (requests.length === 0) return [];
    const calls = requests.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }));
    const answer = await this.#fetch(JSON.stringify(calls));
    const byId = new Map(answer.map((one) => [one.id, one]));
    return calls.map(({ id }) => {
      const one = byId.get(id);
      if (one === undefined) throw new ChainUnavailable('erc20', 'a call has no answer');
      return one.error === undefined
        ? one.result
        : new NodeError(one.error.code, one.error.message, one.error.data);
    });
  }

  async #fetch(body: string): Promise<RpcAnswer[]> {
    try {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(this.url, { method: 'POST', body, headers });
      return (await response.json()) as RpcAnswer[];
    } catch (error) {
      throw new ChainUnavailable('erc20', 'the node is away', error);
    }
  }
}

interface RpcAnswer {
  id: number;
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
}
