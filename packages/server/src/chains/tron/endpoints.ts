import type { ChainIdentity } from '../rpc/endpoint.ts';
import { type HeightQuestion, type RpcDialect, RpcEndpoints, type RpcOptions } from '../rpc/endpoints.ts';
import type { RpcAnswer } from '../rpc/messages.ts';
import type { NodeRequest } from '../rpc/node.ts';
import { type Header, readHeader } from './headers.ts';
import type { TronNetwork } from './network.ts';
import { ofView, type Reached, type TronNode, type TronView } from './node.ts';
import { tryRead } from './node-answers.ts';
import { comparedText } from './reduced.ts';
import { tronWire } from './wire.ts';

type NetworkPart = Pick<TronNetwork, 'name' | 'genesisHash' | 'endpoints' | 'tokens' | 'collector'>;

/** The endpoints of one Tron network. */
export class TronEndpoints extends RpcEndpoints implements TronNode {
  constructor(network: NetworkPart, options: RpcOptions) {
    super(dialectOf(network), options);
  }

  async newest(view: TronView): Promise<unknown> {
    const { answer, height, isOwn } = await this.reached(newestOf(view));
    if (isOwn || view === 'head') return answer;
    return await this.agreed(ofView(view, 'getblock'), [{ id_or_num: String(height), detail: false }]);
  }

  async agreedFrom({ view, height }: Reached, requests: readonly NodeRequest[]): Promise<unknown[]> {
    return await this.agreedSince({ ...newestOf(view), height }, requests);
  }

  async witnessesFrom({ view, height }: Reached, requests: readonly NodeRequest[]): Promise<unknown[][]> {
    return await this.witnesses(requests, { ...newestOf(view), height });
  }
}

const newestOf = (view: TronView): HeightQuestion => ({
  request: { method: ofView(view, 'getblock'), params: [{ detail: false }] },
  heightOf: (one) => tryHeader(one)?.height,
  what: view === 'solid' ? 'its newest solid block' : 'its newest block',
});

function dialectOf(network: NetworkPart): RpcDialect {
  const { name, endpoints, genesisHash } = network;
  return {
    network: 'trc20',
    name,
    endpoints,
    wire: tronWire(network),
    identity: identityOf(genesisHash),
    newest: newestOf('head'),
    comparedText,
    // A node that throws, or has a call switched off: another one may answer.
    isLacking: () => true,
  };
}

/** Of each view, which may have a URL of its own. */
export function identityOf(genesisHash: string): ChainIdentity {
  const params = [{ id_or_num: '0', detail: false }];
  return {
    requests: (['head', 'solid'] as const).map((view) => ({ method: ofView(view, 'getblock'), params })),
    findWrong: (answers) =>
      answers.map((answer) => findWrongChain(answer, genesisHash)).find((wrong) => wrong !== undefined),
    fields: 'genesis_hash',
  };
}

function findWrongChain(answer: RpcAnswer, genesisHash: string): string | undefined {
  const first = 'result' in answer ? tryHeader(answer.result) : undefined;
  if (first === undefined) return 'does not tell its first block';
  return first.hash === genesisHash ? undefined : `serves a chain with another first block (${first.hash})`;
}

const tryHeader = (answer: unknown): Header | undefined => tryRead(() => readHeader(answer));
