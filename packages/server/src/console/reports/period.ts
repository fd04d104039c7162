import { isoOf, unixMsOf } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';

/** Whole days of UTC, both named ones among them. */
export interface Period {
  /** Such as `2026-11-01`. */
  from: string;
  to: string;
  /** Unix seconds: the first second of the period, and the first one behind it. */
  fromSeconds: number;
  endSeconds: number;
}

const DAY_SECONDS = 86_400;
/** A leap year. */
const DAYS_MAX = 366;

/** The day of a time in UTC. */
const dayOf = (seconds: number): string => isoOf(seconds * 1000)?.slice(0, 10) ?? '';

/** The first second of a day. @throws Fail for a day that no calendar has, or that is before the times of computers */
function startOf(day: string, param: 'from' | 'to'): number {
  const ms = unixMsOf(`${day}T00:00:00Z`);
  if (ms === undefined || ms < 0 || dayOf(ms / 1000) !== day)
    throw new Fail('invalid_request', { message: `${param} must be a day such as 2026-11-30.`, param });
  return ms / 1000;
}

/** The day that is so many days away from another. @throws Fail for a day that no calendar has */
export const dayBy = (day: string, days: number): string => dayOf(startOf(day, 'to') + days * DAY_SECONDS);

/** The first and the last day of the month that a day is in. */
function monthOf(day: string): { from: string; to: string } {
  const from = `${day.slice(0, 7)}-01`;
  // The first of the month after is between 28 and 31 days away, so 31 days from the first lie in it.
  const inNext = dayOf(startOf(from, 'from') + 31 * DAY_SECONDS);
  return { from, to: dayOf(startOf(`${inNext.slice(0, 7)}-01`, 'from') - DAY_SECONDS) };
}

/**
 * The period that a report is asked for; by default the month of `now`, and of a period with one end the other of its month.
 *
 * @throws Fail for days that do not exist, that stand in the wrong order or are too far apart
 */
export function periodOf(
  { from, to }: { from?: string | undefined; to?: string | undefined },
  nowSeconds: number,
): Period {
  // Read first, so that the refusal names the one that is wrong.
  const given = to === undefined ? undefined : startOf(to, 'to');
  const first = from ?? monthOf(to ?? dayOf(nowSeconds)).from;
  const fromSeconds = startOf(first, 'from');
  const last = to ?? monthOf(first).to;
  const endSeconds = (given ?? startOf(last, 'to')) + DAY_SECONDS;
  if (endSeconds <= fromSeconds)
    throw new Fail('invalid_request', { message: 'to must not be before from.', param: 'to' });
  if (endSeconds - fromSeconds > DAYS_MAX * DAY_SECONDS)
    throw new Fail('invalid_request', { message: `A period has at most ${DAYS_MAX} days.`, param: 'to' });
  return { from: first, to: last, fromSeconds, endSeconds };
}
