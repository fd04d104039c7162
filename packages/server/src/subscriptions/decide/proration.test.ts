import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Ranges, rangesTo, sumWithin } from './billed-ranges.ts';
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
    prorate({ before, after, billed: rangesTo(before) }, PERIOD, GRID, MIDDLE);
  expect(changed(1_000n, 2_001n)).toEqual({ billed: rangesTo(2_001n), due: 501n, credit: 0n });
  expect(changed(2_001n, 1_000n)).toEqual({ billed: rangesTo(1_000n), due: 0n, credit: 500n });
  expect(changed(7n, 7n)).toEqual({ billed: rangesTo(7n), due: 0n, credit: 0n });
});

test('in a stub the rest is a part of the whole interval, as the stub was', () => {
  const anchor = Date.UTC(2027, 1, 1) / 1000;
  const stub = { start: anchor - 10 * DAY, end: anchor };
  const grid = { anchor, interval: 'month' as const };
  const adjustment = prorate({ before: 0n, after: 3_100n, billed: [] }, stub, grid, stub.start);
  expect(adjustment).toEqual({ billed: rangesTo(3_100n), due: 1_000n, credit: 0n });
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
        const there = prorate({ before, after, billed: rangesTo(before) }, period, grid, now);
        const back = prorate({ before: after, after: before, billed: rangesTo(after) }, period, grid, now);
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

test('what was given without a sum is not given back, and what was billed is billed once', () => {
  const played = (steps: readonly [after: bigint, isBilled: boolean][]) => {
    let [before, billed] = [1_000n, rangesTo(1_000n)];
    return steps.map(([after, isBilled]) => {
      const { due, credit, ...next } = prorate({ before, after, billed }, PERIOD, GRID, MIDDLE);
      if (isBilled) billed = next.billed;
      before = after;
      return isBilled ? due - credit : 0n;
    });
  };
  // Raised for nothing, and taken back.
  expect(
    played([
      [9_000n, false],
      [5_000n, true],
      [1_000n, true],
      [0n, true],
    ]),
  ).toEqual([0n, 0n, 0n, -500n]);
  // From there on up and down again and again: billed each time, and given back.
  const round = [
    [9_600n, true],
    [9_000n, true],
  ] as [bigint, boolean][];
  expect(played([[9_000n, false], ...round, ...round])).toEqual([0n, 300n, -300n, 300n, -300n]);
  // Lowered without a credit, and raised again.
  expect(
    played([
      [100n, false],
      [1_000n, true],
      [1_200n, true],
    ]),
  ).toEqual([0n, 0n, 100n]);
  expect(
    played([
      [100n, false],
      [0n, true],
      [100n, true],
      [0n, true],
    ]),
  ).toEqual([0n, -50n, 50n, -50n]);
});

test('however often items change within a period: each change costs what it adds to what was billed, to the rounding', () => {
  const few = fc.bigInt({ min: 0n, max: 12n }).map((n) => n * 100n);
  const changes = fc.array(
    fc.record({ after: few, isBilled: fc.boolean(), hours: fc.integer({ min: 0, max: 40 }) }),
    { maxLength: 20 },
  );
  const sizeOf = (ranges: Ranges) => sumWithin(ranges, { from: 0n, to: 10_000n });
  const whole = BigInt(PERIOD.end - PERIOD.start);
  fc.assert(
    fc.property(few, changes, (first, played) => {
      let [before, billed, paid, now] = [first, rangesTo(first), first, PERIOD.start];
      for (const { after, isBilled, hours } of played) {
        now = Math.min(PERIOD.end - 1, now + hours * 3_600);
        const { due, credit, ...next } = prorate({ before, after, billed }, PERIOD, GRID, now);
        if (isBilled) {
          const exact = (sizeOf(next.billed) - sizeOf(billed)) * BigInt(PERIOD.end - now);
          const surplus = (due - credit) * whole - exact;
          expect(surplus >= 0n && surplus < whole).toBe(true);
          expect(after > before ? credit : due).toBe(0n);
          paid += due - credit;
          billed = next.billed;
        }
        before = after;
        expect(paid >= 0n).toBe(true);
      }
    }),
    { numRuns: 2_000 },
  );
});
