import type { BalancesAnswer, BalanceView } from '../port/port.ts';
import { slicesOf } from '../rpc/slices.ts';
import { balanceCall, constantCall, readConstantResult } from './contract-call.ts';
import type { TronFeed } from './feed.ts';
import { ofView, type TronNode } from './node.ts';
import { readResult, readWord, unusable } from './node-answers.ts';

/** Calls that one endpoint is given together. */
const CALLS_AT_ONCE = 64;

interface BalanceRead {
  contract: string;
  addresses: readonly string[];
  at: BalanceView;
}

/**
 * Balances of a token. A node shows the state of its present block alone, so they are as of some block from the newest one before the
 * reading to the newest one after it.
 *
 * @throws ChainUnavailable
 */
export async function readBalances(
  { node, feed }: { node: TronNode; feed: TronFeed },
  { contract, addresses, at }: BalanceRead,
): Promise<BalancesAnswer> {
  const heightOf = async () => {
    const { final, head } = await feed.newSnapshot();
    return (at === 'final' ? final : head).height;
  };
  const method = ofView(at === 'final' ? 'solid' : 'head', 'triggerconstantcontract');
  const height = await heightOf();
  const balances = new Map<string, bigint>();
  for (const some of slicesOf([...new Set(addresses)], CALLS_AT_ONCE)) {
    const requests = some.map((address) => ({
      method,
      params: [constantCall(address, contract, balanceCall(address))],
    }));
    const answers = at === 'final' ? await node.agreedMany(requests) : await node.callMany(requests);
    for (const [i, address] of some.entries()) {
      const { data } = readConstantResult(readResult(answers[i]));
      if (data === undefined) throw unusable('a token tells no balance');
      const balance = readWord(data, 'a balance');
      if (balance > 0n) balances.set(address, balance);
    }
  }
  const upTo = await heightOf();
  return { height, ...(upTo > height && { upTo }), balances };
}
