import { FeeCeilingReached } from '../port/port-errors.ts';
import type { EvmNetwork } from './network.ts';

/** What a transaction offers for each gas, in wei; the tip is part of the most. */
export interface Fees {
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

/** The newest blocks as `eth_feeHistory` gives them. */
export interface FeeHistory {
  /** Of the block that comes next, in wei. */
  nextBaseFee: bigint;
  /** The median tip of each block that has transactions, in wei. */
  tips: readonly bigint[];
}

export type FeeCeilings = Pick<EvmNetwork['feeCeilings'], 'maxFeePerGas' | 'maxPriorityFeePerGas'>;

/** Blocks of which tips are read, and the percentile of each block's tips. */
export const HISTORY_BLOCKS = 20;
export const TIP_PERCENTILE = 50;

/** Offered where blocks are empty: 0.01 gwei. */
export const TIP_MIN = 10_000_000n;

const NETWORK = 'erc20';

/** Covers six full blocks in a row, each of which raises the base fee by an eighth. */
const BASE_FEE_FACTOR = 2n;

/**
 * The limits of every transaction but a fill: eight ninths of the ceilings. A fill raises the fees of the transaction that it
 * replaces by an eighth, and so always fits below the ceilings.
 */
function belowFills({ maxFeePerGas, maxPriorityFeePerGas }: FeeCeilings): FeeCeilings {
  return { maxFeePerGas: (maxFeePerGas * 8n) / 9n, maxPriorityFeePerGas: (maxPriorityFeePerGas * 8n) / 9n };
}

/**
 * The fees of a new transaction: the median of the blocks' median tips, and room for the base fee to double.
 *
 * @throws FeeCeilingReached where the next block's base fee leaves nothing for a tip
 */
export function priceOf(history: FeeHistory, ceilings: FeeCeilings): Fees {
  return priceWithin(history, belowFills(ceilings));
}

/** @param limits what may be offered at most */
function priceWithin({ nextBaseFee, tips }: FeeHistory, limits: FeeCeilings): Fees {
  if (nextBaseFee + TIP_MIN > limits.maxFeePerGas) {
    throw new FeeCeilingReached(
      NETWORK,
      `the base fee of ${nextBaseFee} wei is at the ${limits.maxFeePerGas} that may be offered: ` +
        'wait until it falls, or raise max_fee_per_gas in the networks file',
    );
  }
  const tip = tipWithin(tips, limits);
  const maxFeePerGas = least(BASE_FEE_FACTOR * nextBaseFee + tip, limits.maxFeePerGas);
  return { maxFeePerGas, maxPriorityFeePerGas: least(tip, maxFeePerGas) };
}

function tipWithin(tips: FeeHistory['tips'], { maxPriorityFeePerGas }: FeeCeilings): bigint {
  return least(most(medianOf(tips), TIP_MIN), maxPriorityFeePerGas);
}

/**
 * The fees of a transaction that replaces another: at least an eighth above both of its fees, where geth wants a tenth.
 *
 * @param isFill the new transaction only uses the sequence up, and may offer the whole ceilings
 * @throws FeeCeilingReached where the ceilings do not leave an eighth: that transaction can only be waited for
 */
export function replacementOf(
  replaced: Fees,
  history: FeeHistory,
  { ceilings, isFill }: { ceilings: FeeCeilings; isFill: boolean },
): Fees {
  const limits = isFill ? ceilings : belowFills(ceilings);
  const floor: Fees = {
    maxFeePerGas: raised(replaced.maxFeePerGas),
    maxPriorityFeePerGas: raised(replaced.maxPriorityFeePerGas),
  };
  for (const fee of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
    if (floor[fee] <= limits[fee]) continue;
    throw new FeeCeilingReached(
      NETWORK,
      `${fee} of ${replaced[fee]} wei cannot be raised by an eighth below the ${limits[fee]} that may be offered`,
    );
  }
  const now = priceWithin(history, limits);
  const maxFeePerGas = most(floor.maxFeePerGas, now.maxFeePerGas);
  const tip = most(floor.maxPriorityFeePerGas, now.maxPriorityFeePerGas);
  return { maxFeePerGas, maxPriorityFeePerGas: least(tip, maxFeePerGas) };
}

/** What a gas costs in the next block, in wei: no more than that is paid, whatever a transaction offers. */
export function presentPrice({ nextBaseFee, tips }: FeeHistory, ceilings: FeeCeilings): bigint {
  return nextBaseFee + tipWithin(tips, belowFills(ceilings));
}

/** An eighth more, rounded up, and never the same. */
function raised(fee: bigint): bigint {
  return fee + most((fee + 7n) / 8n, 1n);
}

/** Of an even number the lower one; 0 of none. */
function medianOf(values: readonly bigint[]): bigint {
  const sorted = [...values].sort((a, b) => (a < b ? -1 : 1));
  return sorted[(sorted.length - 1) >> 1] ?? 0n;
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function most(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
