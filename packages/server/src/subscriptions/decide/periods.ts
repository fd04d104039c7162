import type { BillingInterval as Interval } from '@florin/contract/schemas';
import { dayNumber, dayOf, daysInMonth } from './calendar.ts';

/** From `start` up to, not including, `end`; Unix seconds. */
export interface Period {
  start: number;
  end: number;
}

const DAY_SECONDS = 86_400;
const FIXED_SECONDS = { day: DAY_SECONDS, week: 7 * DAY_SECONDS };
const MONTHS = { month: 1, year: 12 };

/** The same day and time of day, months later; in a month without that day its last one. */
function addMonths(anchor: number, months: number): number {
  const anchorDay = Math.floor(anchor / DAY_SECONDS);
  const from = dayOf(anchorDay);
  const count = from.year * 12 + from.month + months;
  const [year, month] = [Math.floor(count / 12), ((count % 12) + 12) % 12];
  const day = Math.min(from.day, daysInMonth(year, month));
  return dayNumber({ year, month, day }) * DAY_SECONDS + (anchor - anchorDay * DAY_SECONDS);
}

/**
 * The nth boundary of an anchor, in UTC. It is counted from the anchor itself, not from the previous boundary: 31 Jan,
 * 28 or 29 Feb, 31 Mar.
 *
 * @param n may be negative
 */
export function boundary(anchor: number, interval: Interval, n: number): number {
  if (interval === 'day' || interval === 'week') return anchor + n * FIXED_SECONDS[interval];
  return addMonths(anchor, n * MONTHS[interval]);
}

/** The number of the period that contains a time: the n with boundary n ≤ `at` < boundary n + 1. */
export function periodIndex(anchor: number, interval: Interval, at: number): number {
  if (interval === 'day' || interval === 'week') return Math.floor((at - anchor) / FIXED_SECONDS[interval]);
  const [from, to] = [dayOf(Math.floor(anchor / DAY_SECONDS)), dayOf(Math.floor(at / DAY_SECONDS))];
  const months = (to.year - from.year) * 12 + to.month - from.month;
  const guess = Math.floor(months / MONTHS[interval]);
  // The boundary within that month may be after `at`.
  return boundary(anchor, interval, guess) <= at ? guess : guess - 1;
}

export function periodAt(anchor: number, interval: Interval, n: number): Period {
  return { start: boundary(anchor, interval, n), end: boundary(anchor, interval, n + 1) };
}
