import type { MandatedCharge, MandatePeriod, MandateTerms } from './mandate-terms.ts';

const DAY = 86_400;
const PERIOD_SECONDS_MIN: Readonly<Record<MandatePeriod, number>> = {
  day: DAY,
  week: 7 * DAY,
  month: 28 * DAY,
  year: 365 * DAY,
};
/** A window begins at most so much later than now, and ended at most so long ago: as the collector on Ethereum has it. */
const AHEAD_SECONDS = DAY;
const LATE_SECONDS = 7 * DAY;

export type ChargedWindow = Pick<MandatedCharge, 'subscription' | 'windowStart' | 'windowEnd'>;

/** What may have been charged by a mandate in one window. */
export interface WindowUse extends ChargedWindow {
  /** Units. */
  amount: bigint;
}

/** `limit` may pass by waiting, or when the clocks agree; the others never do in this window. */
export interface WindowFault {
  code: 'cap_exceeded' | 'too_late' | 'limit';
  message: string;
}

const fault = (code: WindowFault['code'], message: string): WindowFault => ({ code, message });

/**
 * Why a charge is not one that its payer has signed for; undefined where it is. Windows that overlap count together: at no moment are
 * more units charged than the cap, whichever windows a caller names.
 *
 * @param uses by the same mandate, without this charge
 * @param now Unix seconds
 */
export function faultOfWindow(
  terms: MandateTerms,
  charge: WindowUse,
  { uses, now }: { uses: readonly WindowUse[]; now: number },
): WindowFault | undefined {
  const { subscription, windowStart, windowEnd, amount } = charge;
  if (now < terms.startsAt) return fault('limit', 'its mandate has not begun');
  if (terms.endsAt !== null && now >= terms.endsAt) return fault('too_late', 'its mandate has ended');
  if (windowEnd - windowStart < PERIOD_SECONDS_MIN[terms.period])
    return fault('cap_exceeded', `its window is shorter than a ${terms.period}`);
  if (windowEnd <= terms.startsAt) return fault('cap_exceeded', 'its window ended before its mandate began');
  if (windowStart > now + AHEAD_SECONDS) return fault('limit', 'its window begins more than a day from now');
  if (windowEnd + LATE_SECONDS <= now) return fault('too_late', 'its window ended a week ago');
  const served = new Set(uses.map((use) => use.subscription));
  if (!served.has(subscription) && served.size >= terms.subscriptions)
    return fault(
      'cap_exceeded',
      `its mandate is for ${terms.subscriptions} subscriptions, which have been charged`,
    );
  const used = uses.filter((use) => areTogether(use, charge)).reduce((sum, use) => sum + use.amount, 0n);
  if (used + amount > BigInt(terms.cap))
    return fault('cap_exceeded', `its window has a cap of ${terms.cap} units, of which ${used} are used`);
  return undefined;
}

/** Whether two windows count together. */
export const areTogether = (a: ChargedWindow, b: ChargedWindow): boolean =>
  a.subscription === b.subscription && a.windowStart < b.windowEnd && b.windowStart < a.windowEnd;
