import type { ChainIdentity } from '../rpc/endpoint.ts';
import { type HeightQuestion, type RpcDialect, RpcEndpoints, type RpcOptions } from '../rpc/endpoints.ts';
import type { RpcAnswer } from '../rpc/messages.ts';
import type { NodeError } from '../rpc/node.ts';
import { comparedText } from './compared.ts';
import type { SolanaNetwork } from './network.ts';
import type { Commitment, Epoch, NamedBlockhash, SolanaNode } from './node.ts';
import { readBase58, readContext, readNumber, readRecord } from './node-answers.ts';

type NetworkPart = Pick<SolanaNetwork, 'name' | 'genesisHash' | 'endpoints'>;

/**
 * What another endpoint may have: blocks that were cleaned up, not seen yet or lost in a jump, a node that is behind, one that
 * keeps no history of transactions, a slot that it has not reached.
 */
const LACKING = new Set([-32_001, -32_004, -32_005, -32_007, -32_009, -32_011, -32_014, -32_016]);

/** The endpoints of one Solana network. */
export class SolanaEndpoints extends RpcEndpoints implements SolanaNode {
  constructor(network: NetworkPart, options: RpcOptions) {
    super(dialectOf(network), options);
  }

  async newest(commitment: Commitment): Promise<Epoch> {
    const { answer } = await this.reached(newestOf(commitment));
    const epoch = readEpoch(answer);
    if (epoch === undefined) throw new Error('an answer that told its slot tells it no more');
    return epoch;
  }

  async newestBlockhash(): Promise<NamedBlockhash> {
    // On a fork that is left, a transaction with it would be dead at once: two thirds of the stake have voted for this one.
    const request = { method: 'getLatestBlockhash', params: [{ commitment: 'confirmed' }] };
    const what = 'its newest blockhash';
    const { answer } = await this.reached({ request, heightOf: (one) => readNamed(one)?.slot, what });
    const named = readNamed(answer);
    if (named === undefined) throw new Error('an answer that told its slot tells it no more');
    return named;
  }
}

const newestOf = (commitment: Commitment): HeightQuestion => ({
  request: { method: 'getEpochInfo', params: [{ commitment }] },
  heightOf: (one) => readEpoch(one)?.slot,
  what: `its newest ${commitment} block`,
});

function dialectOf({ name, endpoints, genesisHash }: NetworkPart): RpcDialect {
  return {
    network: 'spl',
    name,
    endpoints,
    identity: identityOf(genesisHash),
    newest: newestOf('confirmed'),
    comparedText,
    isLacking: ({ code }: NodeError) => LACKING.has(code),
  };
}

export function identityOf(genesisHash: string): ChainIdentity {
  return {
    requests: [{ method: 'getGenesisHash', params: [] }],
    findWrong: (answers) => findWrongChain(answers, genesisHash),
    fields: 'genesis_hash',
  };
}

function findWrongChain([answer]: readonly RpcAnswer[], genesisHash: string): string | undefined {
  const hash = answer !== undefined && 'result' in answer ? answer.result : undefined;
  if (typeof hash !== 'string') return 'does not tell its genesis';
  return hash === genesisHash ? undefined : `serves a chain with another genesis (${hash.slice(0, 60)})`;
}

function readNamed(answer: unknown): NamedBlockhash | undefined {
  try {
    const { slot, value } = readContext(answer, 'getLatestBlockhash');
    const { blockhash, lastValidBlockHeight } = readRecord(value, 'getLatestBlockhash');
    const lastValid = readNumber(lastValidBlockHeight, 'a block height');
    return { slot, blockhash: readBase58(blockhash, 'a blockhash'), lastValid };
  } catch {
    return undefined;
  }
}

function readEpoch(answer: unknown): Epoch | undefined {
  try {
    const { absoluteSlot, blockHeight } = readRecord(answer, 'getEpochInfo');
    return { slot: readNumber(absoluteSlot, 'a slot'), blockHeight: readNumber(blockHeight, 'a height') };
  } catch {
    return undefined;
  }
}
