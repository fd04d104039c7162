import type { BillingInterval } from '@florin/contract/schemas';
import { type Ranges, sumWithin, withAll, without } from './billed-ranges.ts';
import { boundary, type Period, periodIndex } from './periods.ts';

const ceilDivision = (a: bigint, b: bigint) => (a + b - 1n) / b;

/** How long the whole interval is that ends where a period ends: a stub is shorter than it. */
function wholeSeconds(anchor: number, interval: BillingInterval, end: number): number {
  return end - boundary(anchor, interval, periodIndex(anchor, interval, end) - 1);
}

/** What a stub from `start` up to the anchor costs: by the second, rounded up. */
export function stubAmount(sum: bigint, start: number, { anchor, interval }: Grid): bigint {
  return ceilDivision(sum * BigInt(anchor - start), BigInt(wholeSeconds(anchor, interval, anchor)));
}

interface Grid {
  anchor: number;
  interval: BillingInterval;
}

/** Sums of items, of a whole interval. */
export interface Sums {
  before: bigint;
  after: bigint;
  /** What the period has been billed for: not all of `before`, or more, where a change was made without a sum. */
  billed: Ranges;
}

export interface Adjustment {
  /** What the period has been billed for from now on. */
  billed: Ranges;
  /** What the rest of the period costs more; 0n: nothing. */
  due: bigint;
  /** What it costs less: later invoices use it up first. */
  credit: bigint;
}

/**
 * What a new sum changes for the rest of a period that is paid for. Whoever changes there and back loses at most the
 * roundings: up where it is due, down where it is a credit. What an earlier change gave without a sum is not given back, and
 * what it forwent was billed already.
 *
 * @param period the one that `now` lies in
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

/** Uses up what is left of earlier credits. */
export function takeCredit(amount: bigint, credit: bigint): { amount: bigint; credit: bigint } {
  const used = credit < amount ? credit : amount;
  return { amount: amount - used, credit: credit - used };
}
