import { NodeError } from '../rpc/node.ts';
import { slicesOf } from '../rpc/slices.ts';
import { readApart, Unread } from './apart.ts';
import type { Commitment, SolanaNode } from './node.ts';
import { orUnavailable, readBase58, readList, readNumber, readRecord, unusable } from './node-answers.ts';

const LISTED_PER_CALL = 1_000;
const TRANSACTIONS_AT_ONCE = 20;
/** Anybody can name an account in as many transactions as they pay for. */
const LISTED_MAX = 3_000;

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
    if (listed.length >= LISTED_MAX) throw unusable(`${account} is named in more transactions than are read`);
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

/**
 * `getTransaction` of each, in order; of those that the nodes do not have, refuse, or answer differently, why.
 *
 * @throws ChainUnavailable where they are away
 */
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
    const some = await readApart(node, requests, (those) => node[method](those));
    for (const [place, { signature, slot }] of part.entries()) {
      const answer = some[place];
      if (answer instanceof NodeError) answers.push(new Unread(`${signature}: ${answer.message}`));
      else answers.push(answer ?? new Unread(`${signature} is listed in slot ${slot} and not there`));
    }
  }
  return answers;
}
