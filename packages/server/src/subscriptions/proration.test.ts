import fc from 'fast-check';
import { expect, test } from 'vitest';
import { boundary, periodAt, periodIndex } from './periods.ts';
import { prorate, stubAmount, takeCredit } from './proration.ts';

const JAN = Date.UTC(2027, 0, 1) / 1000;
const DAY = 86_400;
const GRID = { anchor: JAN, interval: 'month' as const };
const PERIOD = periodAt(JAN, 'month', 0);
const MIDDLE = PERIOD.start + 15 * DAY + 12 * 3_600;

test('a stub costs its part of a whole interval, by the second and rounded up', () => {
  const anchor = Date.UTC(2027, 1, 1) / 1000;
  expect(stubAmount(3_100n, anchor - 10 * DAY, { anchor, interval: 'month' })).toBe(1_000n);
  expect(stubAmount(3_100n, anchor - 1, { anchor, interval: 'month' })).toBe(1n);
  expect(stubAmount(3_100n, anchor - 31 * DAY, { anchor, interval: 'month' })).toBe(3_100n);
  expect(stubAmount(0n, anchor - DAY, { anchor, interval: 'month' })).toBe(0n);
});

test('what is dearer is due rounded up, what is cheaper is a credit rounded down', () => {
  const changed = (before: bigint, after: bigint) =>
    prorate({ before, after, billed: before }, PERIOD, GRID, MIDDLE);
  expect(changed(1_000n, 2_001n)).toEqual({ billed: 2_001n, due: 501n, credit: 0n });
  expect(changed(2_001n, 1_000n)).toEqual({ billed: 1_000n, due: 0n, credit: 500n });
  expect(changed(7n, 7n)).toEqual({ billed: 7n, due: 0n, credit: 0n });
});

test('in a stub the rest is a part of the whole interval, as the stub was', () => {
  const anchor = Date.UTC(2027, 1, 1) / 1000;
  const stub = { start: anchor - 10 * DAY, end: anchor };
  const grid = { anchor, interval: 'month' as const };
  const adjustment = prorate({ before: 0n, after: 3_100n, billed: 0n }, stub, grid, stub.start);
  expect(adjustment).toEqual({ billed: 3_100n, due: 1_000n, credit: 0n });
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
        const there = prorate({ before, after, billed: before }, period, grid, now);
        const back = prorate({ before: after, after: before, billed: after }, period, grid, now);
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

test('what was granted without a sum is not given back, and what was paid already is not billed again', () => {
  const none = { due: 0n, credit: 0n };
  // Billed at 10, raised to 1,000 for nothing.
  const granted = { before: 1_000n, billed: 10n };
  expect(prorate({ ...granted, after: 10n }, PERIOD, GRID, MIDDLE)).toEqual({ billed: 10n, ...none });
  expect(prorate({ ...granted, after: 500n }, PERIOD, GRID, MIDDLE)).toEqual({ billed: 10n, ...none });
  expect(prorate({ ...granted, after: 0n }, PERIOD, GRID, MIDDLE)).toEqual({
    billed: 0n,
    due: 0n,
    credit: 5n,
  });
  expect(prorate({ ...granted, after: 1_100n }, PERIOD, GRID, MIDDLE)).toEqual({
    billed: 110n,
    due: 50n,
    credit: 0n,
  });
  // Billed at 100, lowered to 10 without a credit.
  const forgone = { before: 10n, billed: 100n };
  expect(prorate({ ...forgone, after: 100n }, PERIOD, GRID, MIDDLE)).toEqual({ billed: 100n, ...none });
  expect(prorate({ ...forgone, after: 120n }, PERIOD, GRID, MIDDLE)).toEqual({
    billed: 120n,
    due: 10n,
    credit: 0n,
  });
  expect(prorate({ ...forgone, after: 0n }, PERIOD, GRID, MIDDLE)).toEqual({
    billed: 90n,
    due: 0n,
    credit: 5n,
  });
});

test('however often items change within a period, credits never exceed what it was billed at', () => {
  const changes = fc.array(
    fc.record({ after: amounts, isBilled: fc.boolean(), second: fc.integer({ min: 0, max: 40 }) }),
    {
      maxLength: 20,
    },
  );
  fc.assert(
    fc.property(amounts, changes, (first, played) => {
      let [before, billed, paid, now] = [first, first, first, PERIOD.start];
      for (const { after, isBilled, second } of played) {
        now = Math.min(PERIOD.end - 1, now + second * 3_600);
        if (isBilled) {
          const adjustment = prorate({ before, after, billed }, PERIOD, GRID, now);
          paid += adjustment.due - adjustment.credit;
          billed = adjustment.billed;
        }
        before = after;
        expect(paid >= 0n && billed >= 0n).toBe(true);
      }
    }),
    { numRuns: 2_000 },
  );
});
