import { CURRENCIES, exponentOf } from '@florin/contract/currencies';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readAmount } from './read-amount.ts';

test.each([
  ['12.50', 'USD', 1_250n],
  ['12,50', 'USD', 1_250n],
  [' 12 ', 'USD', 1_200n],
  ['0.5', 'USD', 50n],
  ['500', 'JPY', 500n],
  ['1.250', 'KWD', 1_250n],
  ['0,250', 'KWD', 250n],
  ['1234,500', 'KWD', 1_234_500n],
  ['12,5', 'USDT', 12_500_000n],
  ['1.000001', 'USDT', 1_000_001n],
  ['١٢٫٥', 'USD', 1_250n],
  ['۱۲.۵۰', 'USD', 1_250n],
])('%j of %s is %s', (typed, currency, units) => {
  expect(readAmount(typed, currency)).toBe(units);
});

describe('an amount that may mean two sums, or none, is prompted again', () => {
  test.each([
    // A comma before three digits groups thousands in half of the world.
    ['1,250', 'KWD'],
    ['1,000', 'USDT'],
    ['١٬٢٥٠', 'USDT'],
    ['١٢٫٥٠٠', 'KWD'],
    ['1,000', 'USD'],
    ['1.000,50', 'EUR'],
    ['1,000.50', 'USD'],
    ['1 000', 'USD'],
    ["1'000", 'CHF'],
    ['12.505', 'USD'],
    ['500.5', 'JPY'],
    ['$12', 'USD'],
    ['12 USD', 'USD'],
    ['-12', 'USD'],
    ['1e3', 'USD'],
    ['0x1f', 'USD'],
    ['Infinity', 'USD'],
    ['1..2', 'USD'],
    ['', 'USD'],
    ['.', 'USD'],
    ['<script>', 'USD'],
    ['１２', 'USD'],
    ['9'.repeat(40), 'USD'],
  ])('%j of %s', (typed, currency) => {
    expect(readAmount(typed, currency)).toBeUndefined();
  });
});

test('H3: typed amounts are parsed exactly, in every currency and script', () => {
  const scripts = [0x30, 0x660, 0x6f0];
  const anyUnits = fc.bigInt({ min: 0n, max: 10n ** 15n });
  fc.assert(
    fc.property(
      fc.constantFrom(...CURRENCIES),
      anyUnits,
      fc.constantFrom(...scripts),
      (currency, units, zero) => {
        const exponent = exponentOf(currency);
        const digits = units.toString().padStart(exponent + 1, '0');
        const point = digits.length - exponent;
        const text = exponent === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
        const typed = text.replaceAll(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));
        expect(readAmount(typed, currency)).toBe(units);
      },
    ),
  );
});

test('any text is parsed or refused, and nothing throws', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.constantFrom(...CURRENCIES), (text, currency) => {
      const units = readAmount(text, currency);
      expect(units === undefined || units >= 0n).toBe(true);
    }),
  );
});
