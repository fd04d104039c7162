import { type Address, decodeFunctionData, type Hex } from 'viem';
import { COLLECTOR_ABI } from '../collector/abi.ts';
import { BatchPayout, Sweeper } from './artifacts.ts';
import { TOKEN_ABI } from './contracts.ts';
import type { Call } from './transaction.ts';

/** What a transaction of ours moves, as its own bytes say: they name contract, token and group, whatever is configured now. */
export type Content =
  | { kind: 'batch'; contract: Address; token: Address; group: Hex; places: readonly bigint[] }
  | { kind: 'transfer'; token: Address; to: Address; amount: bigint }
  | { kind: 'sweep'; contract: Address; sweeps: readonly { from: Address; token: Address; amount: bigint }[] }
  | { kind: 'charge'; contract: Address; token: Address; account: Hex; id: Hex }
  /** A movement of the service: it has no items. */
  | { kind: 'movement' };

const ABI = [...BatchPayout.abi, ...Sweeper.abi, ...TOKEN_ABI, ...COLLECTOR_ABI] as const;

export function contentOf({ to, data }: Pick<Call, 'to' | 'data'>): Content {
  const call = decode(data);
  if (call?.functionName === 'pay') {
    const [token, group, payments] = call.args;
    return { kind: 'batch', contract: to, token, group, places: payments.map(({ index }) => index) };
  }
  if (call?.functionName === 'sweep') return { kind: 'sweep', contract: to, sweeps: call.args[0] };
  if (call?.functionName === 'transfer') {
    return { kind: 'transfer', token: to, to: call.args[0], amount: call.args[1] };
  }
  if (call?.functionName === 'charge') {
    const [{ account, token }, { id }] = call.args;
    return { kind: 'charge', contract: to, token, account, id };
  }
  return { kind: 'movement' };
}

export function countItems(content: Content): number {
  switch (content.kind) {
    case 'batch':
      return content.places.length;
    case 'sweep':
      return content.sweeps.length;
    case 'transfer':
    case 'charge':
      return 1;
    case 'movement':
      return 0;
  }
}

/** Undefined for the call of another contract, as of the deployer, and for none. */
function decode(data: Hex) {
  try {
    return decodeFunctionData({ abi: ABI, data });
  } catch {
    return undefined;
  }
}
