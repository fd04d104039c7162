import type { ChainIdentity } from '../rpc/endpoint.ts';
import type { RpcAnswer } from '../rpc/messages.ts';
import type { NodeRequest } from '../rpc/node.ts';
import type { EvmNetwork } from './network.ts';

type NetworkPart = Pick<EvmNetwork, 'chainId' | 'genesisHash'>;

/** Chain id and block 0: another one under the same chain id is another chain. */
export function identityOf(network: NetworkPart): ChainIdentity {
  return {
    requests: IDENTITY,
    findWrong: (answers) => findWrongChain(answers, network),
    fields: 'chain_id and genesis_hash',
  };
}

const IDENTITY: readonly NodeRequest[] = [
  { method: 'eth_chainId', params: [] },
  { method: 'eth_getBlockByNumber', params: ['0x0', false] },
];

/** What chain the answers to `IDENTITY` show, where it is another one. */
function findWrongChain(
  answers: readonly RpcAnswer[],
  { chainId, genesisHash }: NetworkPart,
): string | undefined {
  const [id, genesis] = answers.map((answer) => ('result' in answer ? answer.result : undefined));
  if (typeof id !== 'string' || !/^0x[0-9a-f]{1,13}$/i.test(id)) return 'does not tell its chain id';
  if (Number(id) !== chainId) return `serves the chain ${Number(id)}, not ${chainId}`;
  const hash =
    typeof genesis === 'object' && genesis !== null && 'hash' in genesis ? genesis.hash : undefined;
  if (typeof hash !== 'string') return 'does not know the block 0';
  return hash.toLowerCase() === genesisHash
    ? undefined
    : `serves a chain that began with another block (${hash.slice(0, 80)})`;
}
