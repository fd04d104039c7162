import { CURRENCIES, exponentOf } from '@florin/contract/currencies';
import { ASSETS } from '@florin/contract/money';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Fail } from '../platform/fail.ts';
import { payAmount } from './pay-amount.ts';
import { parseRate } from './rate.ts';

const STEP = 10_000n;
const MAX = 2n ** 53n - 1n;

const fiat = fc.constantFrom(...CURRENCIES.filter((code) => !ASSETS.some((asset) => asset === code)));
const token = fc.constantFrom(...ASSETS);
const amount = fc.bigInt({ min: 1n, max: MAX });
const rate = fc
  .tuple(fc.bigInt({ min: 1n, max: 10n ** 9n }), fc.nat({ max: 9 }))
  .map(([units, scale]) => parseRate(`${units}e-${scale}`));

/** The amount to pay, or undefined where it is above the maximum. */
function tryPayAmount(...args: Parameters<typeof payAmount>): bigint | undefined {
  try {
    return payAmount(...args);
  } catch (error) {
    expect(error).toBeInstanceOf(Fail);
    expect((error as Fail).details.param).toBe('amount');
    return undefined;
  }
}

test.each([
  [1_000n, 'USD', '1', 10_000_000n],
  [1_000n, 'USD', '0.9998', 10_010_000n],
  [1_000n, 'EUR', '0.92', 10_870_000n],
  [1n, 'USD', '1', 10_000n],
  [1n, 'USD', '1.0001', 10_000n],
  [1n, 'USD', '0.9999', 20_000n],
  [1_500n, 'JPY', '150', 10_000_000n],
  [1_501n, 'JPY', '150', 10_010_000n],
  [3_070n, 'KWD', '0.307', 10_000_000n],
  [1n, 'KWD', '0.307', 10_000n],
  [10_000n, 'CLF', '0.025', 40_000_000n],
  [1_000_000n, 'USDT', '1', 1_000_000n],
  [1_000_001n, 'USDT', '1', 1_000_001n],
])('%d %s at %s is %d units of USDT', (price, currency, text, units) => {
  expect(payAmount({ amount: price, currency }, 'USDT', parseRate(text))).toBe(units);
});

test('a price in the other token is converted and rounded like any other', () => {
  expect(payAmount({ amount: 1_000_001n, currency: 'USDT' }, 'USDC', parseRate('1'))).toBe(1_010_000n);
  expect(payAmount({ amount: 10_000_000n, currency: 'USDT' }, 'USDC', parseRate('1.001'))).toBe(
    9_990_000n + STEP,
  );
});

test('H3: never less than the exact value, less than 0.01 above it, in whole hundredths', () => {
  fc.assert(
    fc.property(amount, fiat, token, rate, (price, currency, asset, at) => {
      const paid = tryPayAmount({ amount: price, currency }, asset, at);
      // exact = price × 10^6 × 10^scale / (10^exponent × units); both sides by the denominator.
      const denominator = 10n ** BigInt(exponentOf(currency)) * at.units;
      const exact = price * 10n ** BigInt(6 + at.scale);
      if (paid === undefined) {
        expect((exact + denominator * STEP) / denominator).toBeGreaterThan(MAX);
        return;
      }
      expect(paid % STEP).toBe(0n);
      expect(paid * denominator).toBeGreaterThanOrEqual(exact);
      expect((paid - STEP) * denominator).toBeLessThan(exact);
      expect(paid).toBeLessThanOrEqual(MAX);
    }),
    { numRuns: 2_000 },
  );
});

test('H3: a higher price never needs fewer tokens, a more expensive token never more', () => {
  const up = 10n ** 12n;
  const smallRate = fc.bigInt({ min: 1n, max: 10n ** 9n });
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: up }),
      fc.bigInt({ min: 0n, max: up }),
      fiat,
      smallRate,
      (low, more, currency, units) => {
        const at = parseRate(`${units}e-3`);
        const dearer = parseRate(`${units + 1n}e-3`);
        const pay = (price: bigint, one = at) =>
          tryPayAmount({ amount: price, currency }, 'USDT', one) ?? MAX + 1n;
        expect(pay(low + more)).toBeGreaterThanOrEqual(pay(low));
        expect(pay(low, dearer)).toBeLessThanOrEqual(pay(low));
      },
    ),
  );
});

test('H3: a price in the token itself is paid to the unit', () => {
  fc.assert(
    fc.property(amount, token, (price, asset) => {
      expect(payAmount({ amount: price, currency: asset }, asset, parseRate('1'))).toBe(price);
    }),
  );
});

test('D3: 2^53−1 units can be paid, one more is refused by its parameter', () => {
  const at = (price: bigint, text: string) =>
    tryPayAmount({ amount: price, currency: 'USD' }, 'USDT', parseRate(text));
  const largest = (MAX / STEP) * STEP;
  expect(at(MAX / STEP, '1')).toBe(largest);
  expect(at(MAX / STEP + 1n, '1')).toBeUndefined();
  expect(at(MAX, '1')).toBeUndefined();
  expect(tryPayAmount({ amount: MAX, currency: 'USDT' }, 'USDT', parseRate('1'))).toBe(MAX);
  expect(tryPayAmount({ amount: MAX + 1n, currency: 'USDT' }, 'USDT', parseRate('1'))).toBeUndefined();
});

test('a rate other than 1 of a token to itself, and a price of zero, violate an invariant', () => {
  expect(() => payAmount({ amount: 1n, currency: 'USDT' }, 'USDT', parseRate('1.1'))).toThrow('invariant');
  expect(() => payAmount({ amount: 0n, currency: 'USD' }, 'USDT', parseRate('1'))).toThrow('invariant');
});
