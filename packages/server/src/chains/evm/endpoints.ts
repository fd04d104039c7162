import { type RpcDialect, RpcEndpoints, type RpcOptions } from '../rpc/endpoints.ts';
import type { NodeError } from '../rpc/node.ts';
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
    const request = { method: 'eth_getBlockByNumber', params: [tag, false] };
    const { answer, height, isOwn } = await this.reached({ request, heightOf, what: `its ${tag} block` });
    if (isOwn || tag === 'latest') return answer;
    return await this.agreed('eth_getBlockByNumber', [`0x${height.toString(16)}`, false]);
  }
}

function dialectOf(network: NetworkPart): RpcDialect {
  const { name, endpoints } = network;
  return { network: 'erc20', name, endpoints, identity: identityOf(network), comparedText, isLacking };
}

function isLacking({ message }: NodeError): boolean {
  return PRUNED.test(message) || (PAST.test(message) && ABSENT.test(message));
}

function heightOf(block: unknown): bigint | undefined {
  if (typeof block !== 'object' || block === null || !('number' in block)) return undefined;
  const { number } = block;
  return typeof number === 'string' && /^0x[0-9a-f]{1,15}$/i.test(number) ? BigInt(number) : undefined;
}
