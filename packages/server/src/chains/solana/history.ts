import { slicesOf } from '../rpc/slices.ts';
import type { Commitment, SolanaNode } from './node.ts';
import {
  orUnavailable,
  readBase58,
  readList,
  readNumber,
  readRecord,
  readResult,
  unusable,
} from './node-answers.ts';

const LISTED_PER_CALL = 1_000;
const TRANSACTIONS_AT_ONCE = 20;

/** A transaction that names an account. */
export interface Listed {
  signature: string;
  slot: bigint;
  hasFailed: boolean;
}

export interface HistoryQuery {
  account: string;
  /** Behind this slot. */
  from: bigint;
  commitment: Commitment;
  /** Nodes that have not reached it refuse. */
  minSlot: bigint;
  endpoints: 'one' | 'two';
}

/** The transactions that name an account, newest first. @throws ChainUnavailable */
export async function readHistory(node: SolanaNode, query: HistoryQuery): Promise<Listed[]> {
  const { account, from, commitment, minSlot, endpoints } = query;
  const method = endpoints === 'two' ? 'agreed' : 'call';
  const listed: Listed[] = [];
  for (;;) {
    const before = listed.at(-1)?.signature;
    const config = {
      commitment,
      minContextSlot: Number(minSlot),
      limit: LISTED_PER_CALL,
      ...(before !== undefined && { before }),
    };
    const answer = await orUnavailable(node[method]('getSignaturesForAddress', [account, config]));
    const page = readList(answer, `the history of ${account}`).map(readListed);
    for (const one of page) {
      const last = listed.at(-1);
      if (last !== undefined && one.slot > last.slot)
        throw unusable(`the history of ${account} is in no order`);
      if (one.slot <= from) return listed;
      listed.push(one);
    }
    if (page.length < LISTED_PER_CALL) return listed;
  }
}

function readListed(value: unknown): Listed {
  const { signature, slot, err } = readRecord(value, 'a listed transaction');
  return {
    signature: readBase58(signature, 'a signature'),
    slot: readNumber(slot, 'a slot'),
    hasFailed: err != null,
  };
}

/** `getTransaction` of each, in order. @throws ChainUnavailable, also where a node does not have one that it has listed */
export async function readTransactions(
  node: SolanaNode,
  listed: readonly Listed[],
  { commitment, endpoints }: Pick<HistoryQuery, 'commitment' | 'endpoints'>,
): Promise<unknown[]> {
  const method = endpoints === 'two' ? 'agreedMany' : 'callMany';
  const config = { encoding: 'json', commitment, maxSupportedTransactionVersion: 0 };
  const answers: unknown[] = [];
  for (const part of slicesOf(listed, TRANSACTIONS_AT_ONCE)) {
    const requests = part.map(({ signature }) => ({ method: 'getTransaction', params: [signature, config] }));
    const some = await node[method](requests);
    for (const [place, { signature, slot }] of part.entries()) {
      const answer = readResult(some[place]);
      if (answer == null) throw unusable(`${signature} is listed in slot ${slot} and not there`);
      answers.push(answer);
    }
  }
  return answers;
}
