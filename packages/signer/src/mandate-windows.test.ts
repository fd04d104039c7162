import fc from 'fast-check';
import { expect, test } from 'vitest';
import { faultOfWindow, type WindowUse } from './mandate-windows.ts';

const DAY = 86_400;
const NOW = 1_790_000_000;
const TERMS = {
  cap: '100',
  period: 'month',
  startsAt: NOW - 600,
  endsAt: null,
  subscriptions: 2,
  salt: 's',
} as const;
const window = (from: number, days = 30, amount = 100n, subscription = 'a'): WindowUse => ({
  subscription,
  windowStart: from,
  windowEnd: from + days * DAY,
  amount,
});
const fault = (charge: WindowUse, uses: WindowUse[] = [], now = NOW, terms: object = {}) =>
  faultOfWindow({ ...TERMS, ...terms }, charge, { uses, now })?.message ?? 'charged';

test('a charge is in its term, in a window around the present, of a subscription that its payer has signed for', () => {
  const whole = window(NOW);
  expect(fault(whole)).toBe('charged');
  expect(fault(window(NOW, 30, 101n))).toContain('has a cap of 100 units, of which 0 are used');
  expect(fault(whole, [], NOW - 601)).toContain('has not begun');
  expect(fault(whole, [], NOW, { endsAt: NOW })).toContain('has ended');
  expect(fault(whole, [], NOW, { endsAt: NOW + 1 })).toBe('charged');
  expect(fault(window(NOW, 27))).toContain('shorter than a month');
  expect(fault(window(NOW, 28))).toBe('charged');
  expect(fault(window(NOW + DAY + 1))).toContain('begins more than a day from now');
  expect(fault(window(NOW + DAY))).toBe('charged');
  const old = { startsAt: NOW - 90 * DAY };
  expect(fault(window(NOW - 37 * DAY), [], NOW, old)).toContain('ended a week ago');
  expect(fault(window(NOW - 36 * DAY), [], NOW, old)).toBe('charged');
  // Time before its mandate began is nothing that its payer has signed for.
  expect(fault(window(NOW - 600 - 30 * DAY))).toContain('ended before its mandate began');
  expect(fault(window(NOW - 599 - 30 * DAY))).toBe('charged');
  expect(fault(window(NOW - 37 * DAY + 1), [], NOW, old)).toBe('charged');
  const both = [window(NOW, 30, 1n, 'a'), window(NOW, 30, 1n, 'b')];
  expect(fault(window(NOW, 30, 99n, 'a'), both)).toBe('charged');
  expect(fault(window(NOW, 30, 1n, 'c'), both)).toContain('for 2 subscriptions');
});

test('one unit above the cap is refused, in every window that has a moment in common', () => {
  const used = [window(NOW, 30, 60n)];
  for (const from of [NOW, NOW + DAY, NOW - 29 * DAY]) {
    expect(fault(window(from, 30, 40n), used)).toBe('charged');
    expect(fault(window(from, 30, 41n), used)).toContain('of which 60 are used');
  }
  const next = NOW + 30 * DAY;
  expect(fault(window(next), used, next)).toBe('charged');
  expect(fault(window(NOW, 30, 100n, 'b'), used)).toBe('charged');
});

test('whatever windows a caller names, at no moment is more charged than the cap for each subscription', () => {
  const asked = fc.record({
    subscription: fc.constantFrom('a', 'b', 'c'),
    ahead: fc.integer({ min: -50, max: 3 }),
    days: fc.integer({ min: 26, max: 70 }),
    amount: fc.bigInt({ min: 1n, max: 120n }),
    wait: fc.integer({ min: 0, max: 20 }),
  });
  fc.assert(
    fc.property(fc.array(asked, { minLength: 1, maxLength: 40 }), (steps) => {
      const uses: WindowUse[] = [];
      let now = NOW;
      for (const { subscription, ahead, days, amount, wait } of steps) {
        now += wait * DAY;
        const charge = window(now + ahead * DAY, days, amount, subscription);
        if (fault(charge, uses, now) === 'charged') uses.push(charge);
      }
      expect(new Set(uses.map(({ subscription }) => subscription)).size).toBeLessThanOrEqual(2);
      for (const { subscription, windowStart: moment } of uses) {
        const at = uses.filter(
          (use) => use.subscription === subscription && use.windowStart <= moment && moment < use.windowEnd,
        );
        expect(at.reduce((sum, { amount }) => sum + amount, 0n)).toBeLessThanOrEqual(100n);
      }
    }),
    { numRuns: 200 },
  );
});
