/** A day of the Gregorian calendar; months from 0. */
export interface Day {
  year: number;
  month: number;
  day: number;
}

const DAYS_OF_400_YEARS = 146_097;
/** Years begin in March here, so that a leap day is the last one of its year. */
const MARCH = 2;
/** From 1 March of the year 0 to 1 January 1970. */
const EPOCH = 719_468;

/** Days since 1 January 1970. In integers alone: no clock, no time zone. */
export function dayNumber({ year, month, day }: Day): number {
  const shifted = month < MARCH ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const monthFromMarch = (month + 12 - MARCH) % 12;
  const dayOfYear = Math.floor((153 * monthFromMarch + 2) / 5) + day - 1;
  const leapDays = Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100);
  return era * DAYS_OF_400_YEARS + yearOfEra * 365 + leapDays + dayOfYear - EPOCH;
}

/** The day of a number, which `dayNumber` turns back. */
export function dayOf(number: number): Day {
  const shifted = number + EPOCH;
  const era = Math.floor(shifted / DAYS_OF_400_YEARS);
  const dayOfEra = shifted - era * DAYS_OF_400_YEARS;
  const leapDays =
    Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = (monthFromMarch + MARCH) % 12;
  const year = era * 400 + yearOfEra + (month < MARCH ? 1 : 0);
  return { year, month, day: dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1 };
}

export function daysInMonth(year: number, month: number): number {
  const next = month === 11 ? { year: year + 1, month: 0, day: 1 } : { year, month: month + 1, day: 1 };
  return dayNumber(next) - dayNumber({ year, month, day: 1 });
}
