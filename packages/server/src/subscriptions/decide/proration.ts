import type { BillingInterval } from '@florin/contract/schemas';
import { type Ranges, sumWithin, withAll, without } from './billed-ranges.ts';
import { boundary, type Period, periodIndex } from './periods.ts';

const ceilDivision = (a: bigint, b: bigint) => (a + b - 1n) / b;

/** The length of the full interval that ends at a period's end; a stub is shorter. */
function wholeSeconds(anchor: number, interval: BillingInterval, end: number): number {
  return end - boundary(anchor, interval, periodIndex(anchor, interval, end) - 1);
}

/** The price of a stub from `start` up to the anchor: by the second, rounded up. */
export function stubAmount(sum: bigint, start: number, { anchor, interval }: Grid): bigint {
  return ceilDivision(sum * BigInt(anchor - start), BigInt(wholeSeconds(anchor, interval, anchor)));
}

interface Grid {
  anchor: number;
  interval: BillingInterval;
}

/** Sums of items for a whole interval. */
export interface Sums {
  before: bigint;
  after: bigint;
  /** The billed parts of the period. After a change without proration they are less or more than `before`. */
  billed: Ranges;
}

export interface Adjustment {
  /** The billed parts of the period after the change. */
  billed: Ranges;
  /** The price increase for the rest of the period; 0n: none. */
  due: bigint;
  /** The price reduction for the rest of the period. Later invoices use it up first. */
  credit: bigint;
}

/**
 * Prorates a new sum over the rest of a paid period. A change there and back costs at most the rounding: amounts due
 * are rounded up, credits down. Parts that an earlier change added without proration are not credited; parts that an
 * earlier change removed without proration are already billed.
 *
 * @param period the period that contains `now`
 */
export function prorate(
  { before, after, billed }: Sums,
  period: Period,
  grid: Grid,
  now: number,
): Adjustment {
  const rest = BigInt(period.end - now);
  const whole = BigInt(wholeSeconds(grid.anchor, grid.interval, period.end));
  if (after >= before) {
    const part = { from: before, to: after };
    const unbilled = after - before - sumWithin(billed, part);
    return { billed: withAll(billed, part), due: ceilDivision(unbilled * rest, whole), credit: 0n };
  }
  const part = { from: after, to: before };
  return { billed: without(billed, part), due: 0n, credit: (sumWithin(billed, part) * rest) / whole };
}

/** Deducts earlier credits. */
export function takeCredit(amount: bigint, credit: bigint): { amount: bigint; credit: bigint } {
  const used = credit < amount ? credit : amount;
  return { amount: amount - used, credit: credit - used };
}
