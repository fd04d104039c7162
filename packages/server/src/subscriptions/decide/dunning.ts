const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 86_400;

/** When an unpaid invoice is tried again; the last offset is its end. */
export interface Schedule {
  /** Unix seconds from which the offsets count. */
  from: number;
  /** Seconds, ascending. */
  offsets: readonly number[];
}

export const DUNNING_DAYS_DEFAULT = [1, 3, 5, 7] as const;
/** The first payment of a subscription: tried again while its payer may still be at the page. */
export const FIRST_PAYMENT_OFFSETS = [1, 6, 12, 22].map((hours) => hours * HOUR_SECONDS);
/** How long a subscription waits for its first payment. */
export const FIRST_PAYMENT_SECONDS = 23 * HOUR_SECONDS;

/** Told so much later than it was due, as nothing ran or its network was away, it is overdue from then. */
const TOLD_LATE_SECONDS = HOUR_SECONDS;

/** From when the days of a page's invoice count that is told to be overdue now: whoever hears of it has them all. */
export const overdueSince = ({ dueDate }: { dueDate: number }, now: number) =>
  now - dueDate > TOLD_LATE_SECONDS ? now : dueDate;

export const dunningOffsets = (days: readonly number[]) => days.map((day) => day * DAY_SECONDS);

/**
 * How many offsets have passed at a time. One try spends all that have passed: after downtime there is no burst of
 * tries, one for each day that was missed.
 */
export function offsetsPassed({ from, offsets }: Schedule, at: number): number {
  return offsets.filter((offset) => from + offset <= at).length;
}

/** When the next try is due once so many offsets are spent; null: none is left. */
export function nextTry({ from, offsets }: Schedule, spent: number): number | null {
  const offset = offsets[spent];
  return offset === undefined ? null : from + offset;
}

export function scheduleEnd({ from, offsets }: Schedule): number {
  return from + (offsets.at(-1) ?? 0);
}
