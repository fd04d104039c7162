import fc from 'fast-check';
import { expect, test } from 'vitest';
import { boundary, periodAt, periodIndex } from './periods.ts';
import { prorate, stubAmount, takeCredit } from './proration.ts';

const JAN = Date.UTC(2027, 0, 1) / 1000;
const DAY = 86_400;
const GRID = { anchor: JAN, interval: 'month' as const };
const PERIOD = periodAt(JAN, 'month', 0);

test('a stub costs its part of a whole interval, by the second and rounded up', () => {
  const anchor = Date.UTC(2027, 1, 1) / 1000;
  expect(stubAmount(3_100n, anchor - 10 * DAY, { anchor, interval: 'month' })).toBe(1_000n);
  expect(stubAmount(3_100n, anchor - 1, { anchor, interval: 'month' })).toBe(1n);
  expect(stubAmount(3_100n, anchor - 31 * DAY, { anchor, interval: 'month' })).toBe(3_100n);
  expect(stubAmount(0n, anchor - DAY, { anchor, interval: 'month' })).toBe(0n);
});

test('what is dearer is due rounded up, what is cheaper is a credit rounded down', () => {
  const middle = PERIOD.start + 15 * DAY + 12 * 3_600;
  expect(prorate({ before: 1_000n, after: 2_001n }, PERIOD, GRID, middle)).toEqual({ due: 501n, credit: 0n });
  expect(prorate({ before: 2_001n, after: 1_000n }, PERIOD, GRID, middle)).toEqual({ due: 0n, credit: 500n });
  expect(prorate({ before: 7n, after: 7n }, PERIOD, GRID, middle)).toEqual({ due: 0n, credit: 0n });
});

test('in a stub the rest is a part of the whole interval, as the stub was', () => {
  const anchor = Date.UTC(2027, 1, 1) / 1000;
  const stub = { start: anchor - 10 * DAY, end: anchor };
  const grid = { anchor, interval: 'month' as const };
  expect(prorate({ before: 0n, after: 3_100n }, stub, grid, stub.start)).toEqual({ due: 1_000n, credit: 0n });
});

const amounts = fc.bigInt({ min: 0n, max: 2n ** 53n - 1n });

test('a stub never costs more than the interval; there and back gives the payer nothing', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: JAN, max: JAN + 3_000 * DAY }),
      fc.constantFrom('day' as const, 'week' as const, 'month' as const, 'year' as const),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.tuple(amounts, amounts),
      (created, interval, part, [before, after]) => {
        const furthest = boundary(created, interval, 1);
        const anchor = Math.min(furthest, created + 1 + Math.floor((furthest - created) * part));
        const stub = stubAmount(before, created, { anchor, interval });
        expect(stub >= 0n && stub <= before).toBe(true);
        const period = periodAt(created, interval, periodIndex(created, interval, anchor));
        const grid = { anchor: created, interval };
        const now = Math.min(Math.max(anchor, period.start), period.end - 1);
        const there = prorate({ before, after }, period, grid, now);
        const back = prorate({ before: after, after: before }, period, grid, now);
        const gain = there.credit + back.credit - there.due - back.due;
        expect(gain <= 0n && gain >= -1n).toBe(true);
        expect(there.due <= (after > before ? after - before : 0n)).toBe(true);
      },
    ),
    { numRuns: 2_000 },
  );
});

test('credit is used up first and never below zero', () => {
  fc.assert(
    fc.property(amounts, amounts, (amount, credit) => {
      const taken = takeCredit(amount, credit);
      expect(amount - taken.amount).toBe(credit - taken.credit);
      expect(taken.amount >= 0n && taken.credit >= 0n).toBe(true);
      expect(taken.amount === 0n || taken.credit === 0n).toBe(true);
    }),
  );
});
