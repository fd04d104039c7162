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

export interface Adjustment {
  /** What the rest of the period costs more; 0n: nothing. */
  due: bigint;
  /** What it costs less: later invoices use it up first. */
  credit: bigint;
}

/**
 * What a new sum changes for the rest of a period that is paid for. Whoever changes there and back loses at most the
 * roundings: up where it is due, down where it is a credit.
 *
 * @param period the one that `now` lies in
 */
export function prorate(
  sums: { before: bigint; after: bigint },
  period: Period,
  grid: Grid,
  now: number,
): Adjustment {
  const rest = BigInt(period.end - now);
  const whole = BigInt(wholeSeconds(grid.anchor, grid.interval, period.end));
  const difference = sums.after - sums.before;
  return difference >= 0n
    ? { due: ceilDivision(difference * rest, whole), credit: 0n }
    : { due: 0n, credit: (-difference * rest) / whole };
}

/** Uses up what is left of earlier credits. */
export function takeCredit(amount: bigint, credit: bigint): { amount: bigint; credit: bigint } {
  const used = credit < amount ? credit : amount;
  return { amount: amount - used, credit: credit - used };
}
