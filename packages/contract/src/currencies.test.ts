import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CURRENCIES, exponentOf, formatPrice, isCurrency, parsePrice } from './currencies.ts';

/** ISO 4217, list one: all but these have two digits. */
const OTHERS: Record<number, string> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
  6: 'USDC USDT',
};

describe('H3: exponents', () => {
  test.each(Object.entries(OTHERS))('%s digits: %s', (exponent, codes) => {
    expect(CURRENCIES.filter((code) => exponentOf(code) === Number(exponent)).join(' ')).toBe(codes);
  });

  test('all others have two digits, where a browser’s habits, or a library’s, say something else', () => {
    const others = Object.values(OTHERS).flatMap((codes) => codes.split(' '));
    const rest = CURRENCIES.filter((code) => !others.includes(code));
    expect(new Set(rest.map(exponentOf))).toEqual(new Set([2]));
    expect(rest).toHaveLength(140);
    for (const code of ['USD', 'EUR', 'HUF', 'IDR', 'LAK', 'MGA', 'MRU', 'XCG']) expect(rest).toContain(code);
  });
});

test.each(['usd', 'US', 'USDX', 'BTC', 'HRK', 'ANG', '', ' USD', 'default', '__proto__', 'constructor'])(
  '%j is no currency',
  (code) => {
    expect(isCurrency(code)).toBe(false);
    expect(() => exponentOf(code)).toThrow(RangeError);
    expect(() => formatPrice(1n, code, 'en')).toThrow(RangeError);
  },
);

test.each([
  [1_999n, 'USD', 'en-US', '$19.99'],
  [1_999n, 'USD', 'de-DE', '19,99 $'],
  [1_999n, 'USD', 'en-CA', 'US$19.99'],
  [123_456_789n, 'EUR', 'fr-FR', '1 234 567,89 €'],
  [5n, 'EUR', 'en-US', '€0.05'],
  [1_999n, 'JPY', 'en-US', '¥1,999'],
  [12_345n, 'KWD', 'en-US', 'KWD 12.345'],
  [1_500n, 'IQD', 'en-US', 'IQD 1.500'],
  [1_050n, 'HUF', 'en-US', 'HUF 10.50'],
  [12_500_000n, 'USDT', 'en-US', '12.50 USDT'],
  [12_500_001n, 'USDC', 'de-DE', '12,500001 USDC'],
  [0n, 'USDT', 'en-US', '0.00 USDT'],
  [9_007_199_254_740_993n, 'USD', 'en-US', '$90,071,992,547,409.93'],
])('%d %s is for %s %s', (amount, currency, locale, shown) => {
  expect(formatPrice(amount, currency, locale).replace(/\p{White_Space}/gu, ' ')).toBe(shown);
});

test.each(['', '*', 'x', 'en_US;q=0.9', '../../etc', '1'])(
  'the locale %j of a browser is taken for English',
  (locale) => expect(formatPrice(1_999n, 'USD', locale)).toBe('$19.99'),
);

test('every amount of every currency is shown to its last digit, and none below zero', () => {
  const amounts = fc.bigInt({ min: 0n, max: 2n ** 53n });
  fc.assert(
    fc.property(amounts, fc.constantFrom(...CURRENCIES), (amount, currency) => {
      // From the first digit on: a symbol such as Cg. has a point of its own.
      const shown = /\d[\d,]*(?:\.\d+)?/.exec(formatPrice(amount, currency, 'en-US'))?.[0] ?? '';
      const [whole = '', fraction = ''] = shown.replaceAll(',', '').split('.');
      expect(BigInt(whole + fraction.padEnd(exponentOf(currency), '0'))).toBe(amount);
    }),
    { numRuns: 5_000 },
  );
  expect(() => formatPrice(-1n, 'USD', 'en')).toThrow(RangeError);
});

describe('H3: prices as people write them', () => {
  test.each([
    ['19.99', 'USD', 1_999n],
    ['19.9', 'USD', 1_990n],
    ['19', 'USD', 1_900n],
    ['0.01', 'USD', 1n],
    ['500', 'JPY', 500n],
    ['1.250', 'KWD', 1_250n],
    ['12.000001', 'USDT', 12_000_001n],
    ['9999999999999999', 'USD', 999_999_999_999_999_900n],
  ])('%s %s is %s', (text, currency, units) => {
    expect(parsePrice(text, currency)).toBe(units);
  });

  test.each([
    ['19.999', 'USD'],
    ['500.0', 'JPY'],
    ['1,250', 'KWD'],
    ['1e3', 'USD'],
    ['-1', 'USD'],
    ['+1', 'USD'],
    ['01', 'USD'],
    ['.5', 'USD'],
    ['5.', 'USD'],
    [' 5', 'USD'],
    ['', 'USD'],
    ['٥', 'USD'],
    ['99999999999999999', 'USD'],
    ['0x10', 'USD'],
  ])('%j is no amount of %s', (text, currency) => {
    expect(() => parsePrice(text, currency)).toThrow(RangeError);
  });

  test('what is parsed is exact, for every currency', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...CURRENCIES),
        fc.bigInt({ min: 0n, max: 10n ** 15n }),
        (currency, units) => {
          const exponent = exponentOf(currency);
          const digits = units.toString().padStart(exponent + 1, '0');
          const point = digits.length - exponent;
          const text = `${digits.slice(0, point)}${exponent === 0 ? '' : `.${digits.slice(point)}`}`;
          expect(parsePrice(text, currency)).toBe(units);
        },
      ),
    );
  });
});
