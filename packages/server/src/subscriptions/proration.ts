import type { BillingInterval } from '@florin/contract/schemas';
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
  /** What the period has been billed at: not `before` where a change was made without a sum. */
  billed: bigint;
}

export interface Adjustment {
  /** What the period has been billed at from now on. */
  billed: bigint;
  /** What the rest of the period costs more; 0n: nothing. */
  due: bigint;
  /** What it costs less: later invoices use it up first. */
  credit: bigint;
}

/**
 * What a new sum changes for the rest of a period that is paid for. Whoever changes there and back loses at most the
 * roundings: up where it is due, down where it is a credit. What an earlier change granted or forwent without a sum, the
 * difference between `before` and `billed`, is neither billed nor given back by a later one.
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
  const [low, high] = before < billed ? [before, billed] : [billed, before];
  if (after > high)
    return { billed: billed + after - high, due: ceilDivision((after - high) * rest, whole), credit: 0n };
  if (after < low) return { billed: billed - (low - after), due: 0n, credit: ((low - after) * rest) / whole };
  return { billed, due: 0n, credit: 0n };
}

/** Uses up what is left of earlier credits. */
export function takeCredit(amount: bigint, credit: bigint): { amount: bigint; credit: bigint } {
  const used = credit < amount ? credit : amount;
  return { amount: amount - used, credit: credit - used };
}
