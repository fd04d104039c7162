import type { BalancesAnswer, BalanceView } from '../port/port.ts';
import { slicesOf } from '../rpc/slices.ts';
import { balanceCall, constantCall, readConstantResult } from './contract-call.ts';
import type { Snapshot, TronFeed } from './feed.ts';
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
  const newest = async () => heightOf(await feed.snapshot('now'), at);
  const height = await newest();
  const balances = await readHeld(node, { contract, addresses, at, height });
  const upTo = await newest();
  return { height, ...(upTo > height && { upTo }), balances };
}

/** As of the block that is the newest when it is called, or a later one. @throws ChainUnavailable */
export async function readBalance(
  { node, feed }: { node: TronNode; feed: TronFeed },
  { contract, address, at }: Pick<BalanceRead, 'contract' | 'at'> & { address: string },
): Promise<bigint> {
  const height = heightOf(await feed.snapshot('now'), at);
  const held = await readHeld(node, { contract, addresses: [address], at, height });
  return held.get(address) ?? 0n;
}

const heightOf = ({ final, head }: Snapshot, at: BalanceView): bigint =>
  (at === 'final' ? final : head).height;

/** What is not 0. */
async function readHeld(
  node: TronNode,
  { contract, addresses, at, height }: BalanceRead & { height: bigint },
): Promise<Map<string, bigint>> {
  const method = ofView(at === 'final' ? 'solid' : 'head', 'triggerconstantcontract');
  const balances = new Map<string, bigint>();
  for (const some of slicesOf([...new Set(addresses)], CALLS_AT_ONCE)) {
    const requests = some.map((address) => ({
      method,
      params: [constantCall(address, contract, balanceCall(address))],
    }));
    const answers =
      at === 'final'
        ? await node.agreedFrom({ view: 'solid', height }, requests)
        : await node.callMany(requests);
    for (const [i, address] of some.entries()) {
      const { data } = readConstantResult(readResult(answers[i]));
      if (data === undefined) throw unusable('a token tells no balance');
      const balance = readWord(data, 'a balance');
      if (balance > 0n) balances.set(address, balance);
    }
  }
  return balances;
}
