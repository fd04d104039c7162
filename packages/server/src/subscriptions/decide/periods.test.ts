import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dayNumber, dayOf } from './calendar.ts';
import { boundary, periodAt, periodIndex } from './periods.ts';

const at = (iso: string) => Date.parse(`${iso}Z`) / 1000;
const iso = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 19);
const days = (anchor: string, interval: 'month' | 'year', numbers: number[]) =>
  numbers.map((n) => iso(boundary(at(anchor), interval, n)).slice(0, 10));

test('fault 78: month ends keep the day of the anchor, over leap years', () => {
  const year = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14];
  expect(days('2027-01-31T09:30:15', 'month', year)).toEqual([
    '2027-01-31',
    '2027-02-28',
    '2027-03-31',
    '2027-04-30',
    '2027-05-31',
    '2027-06-30',
    '2027-07-31',
    '2027-08-31',
    '2027-09-30',
    '2027-10-31',
    '2027-11-30',
    '2027-12-31',
    '2028-01-31',
    '2028-02-29',
    '2028-03-31',
  ]);
  expect(days('2028-01-30T00:00:00', 'month', [1, 2, 13])).toEqual([
    '2028-02-29',
    '2028-03-30',
    '2029-02-28',
  ]);
  expect(days('2027-01-29T23:59:59', 'month', [1, 2, 13])).toEqual([
    '2027-02-28',
    '2027-03-29',
    '2028-02-29',
  ]);
  expect(days('2027-03-31T00:00:00', 'month', [-1, -4, -14])).toEqual([
    '2027-02-28',
    '2026-11-30',
    '2026-01-31',
  ]);
  expect(iso(boundary(at('2027-01-31T09:30:15'), 'month', 1))).toBe('2027-02-28T09:30:15');
});

test('fault 78: a leap day comes back each fourth year, and not in 2100', () => {
  expect(days('2028-02-29T12:00:00', 'year', [0, 1, 2, 3, 4, 72, 76])).toEqual([
    '2028-02-29',
    '2029-02-28',
    '2030-02-28',
    '2031-02-28',
    '2032-02-29',
    '2100-02-28',
    '2104-02-29',
  ]);
  expect(days('2099-12-31T00:00:00', 'month', [1, 2, 3])).toEqual(['2100-01-31', '2100-02-28', '2100-03-31']);
});

const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
/** A calendar of its own, without any date library. */
function monthly(day: number): string[] {
  const list: string[] = [];
  for (let n = 0; n < 120; n++) {
    const [year, month] = [2027 + Math.floor(n / 12), n % 12];
    const length = month === 1 && year % 4 === 0 ? 29 : (MONTH_DAYS[month] ?? 0);
    list.push(
      `${year}-${String(month + 1).padStart(2, '0')}-${String(Math.min(day, length)).padStart(2, '0')}`,
    );
  }
  return list;
}

test.each(['UTC', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Apia'])(
  'L1, fault 78: 31 of 31 anchors are equal to the table under TZ=%s',
  (zone) => {
    const script = `
      import { boundary, periodIndex } from ${JSON.stringify(fileURLToPath(new URL('./periods.ts', import.meta.url)))};
      const all = [];
      for (let day = 1; day <= 31; day++) {
        const anchor = Date.UTC(2027, 0, day, 2, 30, 0) / 1000;
        for (let n = 0; n < 120; n++) {
          const start = boundary(anchor, 'month', n);
          if (periodIndex(anchor, 'month', start) !== n || periodIndex(anchor, 'month', start - 1) !== n - 1)
            throw new Error('wrong index ' + day + ' ' + n);
          all.push(new Date(start * 1000).toISOString());
        }
      }
      console.log(JSON.stringify({ zone: new Date(0).getTimezoneOffset(), all }));`;
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      env: { ...process.env, TZ: zone },
      encoding: 'utf8',
    });
    const { zone: offset, all } = JSON.parse(output) as { zone: number; all: string[] };
    expect(offset === 0).toBe(zone === 'UTC');
    const table = Array.from({ length: 31 }, (_, i) => monthly(i + 1)).flat();
    expect(all).toEqual(table.map((day) => `${day}T02:30:00.000Z`));
  },
  60_000,
);

const intervals = fc.constantFrom('day' as const, 'week' as const, 'month' as const, 'year' as const);
const moments = fc.integer({ min: at('2020-01-01T00:00:00'), max: at('2110-01-01T00:00:00') });

test('I16: each moment is in exactly one period, and periods follow each other without a gap', () => {
  fc.assert(
    fc.property(moments, intervals, moments, (anchor, interval, moment) => {
      const n = periodIndex(anchor, interval, moment);
      const { start, end } = periodAt(anchor, interval, n);
      expect(start <= moment && moment < end).toBe(true);
      expect(periodAt(anchor, interval, n + 1).start).toBe(end);
      expect(periodIndex(anchor, interval, start)).toBe(n);
      expect(periodIndex(anchor, interval, end)).toBe(n + 1);
    }),
    { numRuns: 2_000 },
  );
});

test('fault 78: days are those of the calendar, over centuries', () => {
  fc.assert(
    fc.property(fc.integer({ min: -200_000, max: 200_000 }), (number) => {
      const date = new Date(number * 86_400_000);
      const day = { year: date.getUTCFullYear(), month: date.getUTCMonth(), day: date.getUTCDate() };
      expect(dayOf(number)).toEqual(day);
      expect(dayNumber(day)).toBe(number);
    }),
    { numRuns: 5_000 },
  );
});
