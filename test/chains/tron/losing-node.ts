import type { ScanQuery } from '../../../packages/server/src/chains/port/port.ts';
import type { NodeRequest } from '../../../packages/server/src/chains/rpc/node.ts';
import { ofView, type TronNode, type TronView } from '../../../packages/server/src/chains/tron/node.ts';

const VIEW = { tip: 'head', final: 'solid' } as const;

interface Info {
  log?: unknown[];
}

/** A node that leaves one log out of the next block that has any. */
export class LosingNode implements TronNode {
  readonly #node: TronNode;
  #losing: TronView | undefined;

  constructor(node: TronNode) {
    this.#node = node;
  }

  loseNext(level: ScanQuery['level']): void {
    this.#losing = VIEW[level];
  }

  newest(view: TronView) {
    return this.#node.newest(view);
  }

  everywhere(request: NodeRequest) {
    return this.#node.everywhere(request);
  }

  agreedFrom(block: { view: TronView; height: bigint }, requests: readonly NodeRequest[]) {
    return this.#node.agreedFrom(block, requests);
  }

  witnessesFrom(block: { view: TronView; height: bigint }, requests: readonly NodeRequest[]) {
    return this.#node.witnessesFrom(block, requests);
  }

  call(method: string, params: readonly unknown[]): Promise<unknown> {
    return this.#node.call(method, params);
  }

  agreed(method: string, params: readonly unknown[]): Promise<unknown> {
    return this.#node.agreed(method, params);
  }

  async callMany(requests: readonly NodeRequest[]): Promise<unknown[]> {
    return this.#lie(requests, await this.#node.callMany(requests));
  }

  async agreedMany(requests: readonly NodeRequest[]): Promise<unknown[]> {
    return this.#lie(requests, await this.#node.agreedMany(requests));
  }

  #lie(requests: readonly NodeRequest[], answers: readonly unknown[]): unknown[] {
    return requests.map(({ method }, place) => {
      const answer = answers[place];
      const isAsked =
        this.#losing !== undefined && method === ofView(this.#losing, 'gettransactioninfobyblocknum');
      const infos = structuredClone(answer) as Info[];
      const logs = isAsked ? infos.findLast(({ log = [] }) => log.length > 0)?.log : undefined;
      if (logs === undefined) return answer;
      this.#losing = undefined;
      logs.pop();
      return infos;
    });
  }
}
