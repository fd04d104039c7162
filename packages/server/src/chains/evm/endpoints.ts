import { type HeightQuestion, type RpcDialect, RpcEndpoints, type RpcOptions } from '../rpc/endpoints.ts';
import type { NodeError, NodeRequest } from '../rpc/node.ts';
import { isRevert } from './collector-errors.ts';
import { comparedText } from './compared.ts';
import { identityOf } from './identity.ts';
import type { EvmNetwork } from './network.ts';
import type { EvmNode } from './node.ts';

/** The node lacks what another one may have: a block it has not seen, a state it has dropped. */
const PAST = /header|block|state|history|trie node/i;
const ABSENT = /not (?:found|available|exist)|missing|unknown block/i;
const PRUNED = /pruned/i;

type NetworkPart = Pick<EvmNetwork, 'name' | 'chainId' | 'genesisHash' | 'endpoints'>;

/** The endpoints of one EVM network. */
export class EvmEndpoints extends RpcEndpoints implements EvmNode {
  constructor(network: NetworkPart, options: RpcOptions) {
    super(dialectOf(network), options);
  }

  async newest(tag: 'latest' | 'finalized'): Promise<unknown> {
    const { answer, height, isOwn } = await this.reached(newestOf(tag));
    if (isOwn || tag === 'latest') return answer;
    return await this.agreed('eth_getBlockByNumber', [`0x${height.toString(16)}`, false]);
  }

  async agreedFrom(height: bigint, requests: readonly NodeRequest[]): Promise<unknown[]> {
    return await this.agreedSince({ ...newestOf('latest'), height }, requests);
  }
}

const newestOf = (tag: 'latest' | 'finalized'): HeightQuestion => ({
  request: { method: 'eth_getBlockByNumber', params: [tag, false] },
  heightOf,
  what: `its ${tag} block`,
});

function dialectOf(network: NetworkPart): RpcDialect {
  const { name, endpoints } = network;
  const identity = identityOf(network);
  const newest = newestOf('latest');
  const own = { comparedText, comparedRefusal, isLacking };
  return { network: 'erc20', name, endpoints, identity, newest, ...own };
}

/** Nodes of different makers have different codes for a call that reverts without data. */
const comparedRefusal = (refusal: NodeError): string => (isRevert(refusal) ? 'revert' : String(refusal.code));

function isLacking({ message }: NodeError): boolean {
  return PRUNED.test(message) || (PAST.test(message) && ABSENT.test(message));
}

function heightOf(block: unknown): bigint | undefined {
  if (typeof block !== 'object' || block === null || !('number' in block)) return undefined;
  const { number } = block;
  return typeof number === 'string' && /^0x[0-9a-f]{1,15}$/i.test(number) ? BigInt(number) : undefined;
}
