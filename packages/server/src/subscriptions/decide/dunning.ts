const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 86_400;

/** The times at which an unpaid invoice is tried again. The last offset is the end of dunning. */
export interface Schedule {
  /** Unix seconds from which the offsets count. */
  from: number;
  /** Seconds, ascending. */
  offsets: readonly number[];
}

export const DUNNING_DAYS_DEFAULT = [1, 3, 5, 7] as const;
/** Retries of a subscription's first payment, while the payer may still be at the page. */
export const FIRST_PAYMENT_OFFSETS = [1, 6, 12, 22].map((hours) => hours * HOUR_SECONDS);
/** How long a subscription waits for its first payment. */
export const FIRST_PAYMENT_SECONDS = 23 * HOUR_SECONDS;

/**
 * A page invoice found overdue more than this long after its due date (the service was down, or the network
 * unreachable) is overdue from now instead.
 */
const LATE_NOTICE_SECONDS = HOUR_SECONDS;

/**
 * The start of the dunning days of a page invoice found overdue now, so that the payer has all days after a late
 * notice.
 */
export const overdueSince = ({ dueDate }: { dueDate: number }, now: number) =>
  now - dueDate > LATE_NOTICE_SECONDS ? now : dueDate;

export const dunningOffsets = (days: readonly number[]) => days.map((day) => day * DAY_SECONDS);

/**
 * The number of offsets that have passed at a time. One try uses up all of them, so there is no burst of tries for
 * missed days after downtime.
 */
export function offsetsPassed({ from, offsets }: Schedule, at: number): number {
  return offsets.filter((offset) => from + offset <= at).length;
}

/** When the next try is due after `spent` offsets; null: none is left. */
export function nextTry({ from, offsets }: Schedule, spent: number): number | null {
  const offset = offsets[spent];
  return offset === undefined ? null : from + offset;
}

export function scheduleEnd({ from, offsets }: Schedule): number {
  return from + (offsets.at(-1) ?? 0);
}
