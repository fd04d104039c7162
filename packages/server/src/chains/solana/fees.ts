import type { SolanaNetwork } from './network.ts';
import type { SolanaNode } from './node.ts';
import { orUnavailable, readList, readNumber, readRecord } from './node-answers.ts';

const MICRO = 1_000_000n;
/** Of each signature, as the network has it. */
export const SIGNATURE_LAMPORTS = 5_000n;
/** For the 165 bytes of a token account. */
export const RENT_LAMPORTS = 2_039_280n;
/** Three of four recent blocks took less. */
const PERCENTILE = 75;

/** What the steps of a message use at most, as measured with the programs of mainnet, with a margin. */
const UNITS = { base: 10_000, memo: 10_000, memoByte: 300, create: 45_000, transfer: 10_000 };

export interface Steps {
  memoBytes: readonly number[];
  /** Token accounts that may have to be opened. */
  created: number;
  transfers: number;
}

export function computeUnits({ memoBytes, created, transfers }: Steps): number {
  const memos = memoBytes.reduce((sum, bytes) => sum + UNITS.memo + bytes * UNITS.memoByte, 0);
  return UNITS.base + memos + created * UNITS.create + transfers * UNITS.transfer;
}

/**
 * The price of a compute unit, in millionths of a lamport: what recent transactions paid that changed one of these accounts, as
 * far as the ceiling of the whole transaction allows. Where the market is above it, a transaction waits longer or expires.
 */
export function priceOf(
  recent: readonly bigint[],
  units: number,
  { priorityFee }: SolanaNetwork['feeCeilings'],
): bigint {
  const sorted = recent.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const market = sorted[Math.floor(((sorted.length - 1) * PERCENTILE) / 100)] ?? 0n;
  const most = (priorityFee * MICRO) / BigInt(units);
  return market < most ? market : most;
}

/** One endpoint's word is enough: the ceiling bounds it. @throws ChainUnavailable */
export async function readRecentFees(node: SolanaNode, accounts: readonly string[]): Promise<bigint[]> {
  const answer = await orUnavailable(node.call('getRecentPrioritizationFees', [accounts]));
  return readList(answer, 'recent fees').map((one) =>
    readNumber(readRecord(one, 'a recent fee').prioritizationFee, 'a recent fee'),
  );
}

/** The most lamports that a message takes from its fee payer. */
export function costOf(message: {
  signatures: number;
  units: number;
  microLamports: bigint;
  created: number;
}): bigint {
  const { signatures, units, microLamports, created } = message;
  const priority = (BigInt(units) * microLamports + MICRO - 1n) / MICRO;
  return BigInt(signatures) * SIGNATURE_LAMPORTS + priority + BigInt(created) * RENT_LAMPORTS;
}
