import {
  BaseError,
  ContractFunctionRevertedError,
  type Hex,
  keccak256,
  parseEventLogs,
  type TransactionReceipt,
  toHex,
} from 'viem';
import { BatchPayout, Sweeper } from '../../contracts/artifacts/index.ts';

/** A group's id of 32 bytes. */
export function groupId(name: string): Hex {
  return keccak256(toHex(name));
}

/** What a payout's events say, in their order: `7 paid`, `7 failed`, `7 before`. */
export function payoutOutcomes({ logs }: TransactionReceipt): string[] {
  return parseEventLogs({ abi: BatchPayout.abi, logs }).map(({ eventName, args }) => {
    if (eventName === 'PaidBefore') return `${args.index} before`;
    return `${args.index} ${args.ok ? 'paid' : 'failed'}`;
  });
}

/** Whether each sweep moved its amount, in their order. */
export function sweepOutcomes({ logs }: TransactionReceipt): boolean[] {
  return parseEventLogs({ abi: Sweeper.abi, logs }).map(({ args }) => args.ok);
}

/** The custom error or text with which the contract refuses a call that is only estimated. */
export async function refusal(write: Promise<unknown>): Promise<string> {
  try {
    await write;
    return 'none';
  } catch (error) {
    const reverted =
      error instanceof BaseError && error.walk((it) => it instanceof ContractFunctionRevertedError);
    if (reverted instanceof ContractFunctionRevertedError) {
      return reverted.data?.errorName === 'Error' || reverted.data === undefined
        ? (reverted.reason ?? 'without reason')
        : reverted.data.errorName;
    }
    throw error;
  }
}
