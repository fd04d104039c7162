import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HAS_CORPORA } from '../../../test/corpora.ts';
import { amountTexts } from '../../../test/own-cases/text.ts';
import {
  AMOUNT_LENGTH_MAX,
  AMOUNT_PATTERN,
  feeOf,
  formatAmount,
  formatTokens,
  NON_NEGATIVE_AMOUNT_PATTERN,
  parseAmount,
  parseNonNegativeAmount,
  parseTokens,
  UNITS_PER_CENT,
} from './money.ts';

/** Sums from one cent to far beyond 2^64, in base units and whole cents. */
const wholeCents = fc.bigInt({ min: 1n, max: 10n ** 36n }).map((cents) => cents * UNITS_PER_CENT);
const units = fc.bigInt({ min: 0n, max: 10n ** 24n });

function parses(text: string, parse: (text: string) => bigint): boolean {
  try {
    return parse(text) >= 0n;
  } catch (error) {
    expect(error).toBeInstanceOf(RangeError);
    return false;
  }
}

test('the patterns are the ones of the specification', () => {
  expect(AMOUNT_PATTERN).toBe(String.raw`^(?:0\.(?:0[1-9]|[1-9][0-9]?)|[1-9][0-9]*(?:\.[0-9]{1,2})?)$`);
  expect(NON_NEGATIVE_AMOUNT_PATTERN).toBe(String.raw`^(0|[1-9][0-9]*)(\.[0-9]{1,2})?$`);
});

describe('payout strings', () => {
  test.each([
    ['0.01', 10_000n],
    ['0.1', 100_000n],
    ['0.10', 100_000n],
    ['1', 1_000_000n],
    ['1.5', 1_500_000n],
    ['12.34', 12_340_000n],
    ['9007199254740993.01', 9_007_199_254_740_993_010_000n],
  ])('%s is %d units', (text, expected) => {
    expect(parseAmount(text)).toBe(expected);
    expect(parseNonNegativeAmount(text)).toBe(expected);
    expect(parseTokens(text)).toBe(expected);
  });

  test('zero is a sum, never the amount of an item', () => {
    for (const zero of ['0', '0.0', '0.00']) {
      expect(parseNonNegativeAmount(zero)).toBe(0n);
      expect(() => parseAmount(zero)).toThrow(RangeError);
    }
    expect(formatAmount(0n)).toBe('0.00');
  });

  test.each(
    ['', '1.', '.5', '01', '1.005', '1e2', '+1', '-1', ' 1', '1\n', '1,00', '0x1', '１', 'NaN', '1_0'].map(
      (t) => [t],
    ),
  )('%j is no amount', (text) => {
    expect(() => parseAmount(text)).toThrow(RangeError);
    expect(() => parseNonNegativeAmount(text)).toThrow(RangeError);
  });

  test('a number is refused even though its text has the form', () => {
    expect(() => parseAmount(JSON.parse('12.5'))).toThrow(RangeError);
  });

  test('all six decimals of a token are kept', () => {
    expect(parseTokens('0.000001')).toBe(1n);
    expect(() => parseTokens('0.0000001')).toThrow(RangeError);
  });

  test('what is not a whole number of cents, or negative, is never written', () => {
    expect(() => formatAmount(10_001n)).toThrow('not a whole number of cents: 10001 units');
    expect(() => formatAmount(-10_000n)).toThrow(RangeError);
  });

  test('writing and reading is exact at every size, always with two decimals', () => {
    fc.assert(
      fc.property(wholeCents, (amount) => {
        expect(formatAmount(amount)).toMatch(/^\d+\.\d{2}$/);
        expect(parseAmount(formatAmount(amount))).toBe(amount);
      }),
    );
  });

  test('D3: a text longer than any sum of money is refused, whatever it is', () => {
    for (const length of [AMOUNT_LENGTH_MAX, AMOUNT_LENGTH_MAX + 1]) {
      const digits = '9'.repeat(length);
      const isTaken = length === AMOUNT_LENGTH_MAX;
      expect([parses(digits, parseAmount), parses(digits, parseNonNegativeAmount)]).toEqual([
        isTaken,
        isTaken,
      ]);
      expect(parses(digits, parseTokens)).toBe(isTaken);
    }
  });

  test.each([
    ['parseAmount', parseAmount],
    ['parseNonNegativeAmount', parseNonNegativeAmount],
    ['parseTokens', parseTokens],
  ])('D3: %s does no work on a megabyte of digits', (_, parse) => {
    const digits = '9'.repeat(1_000_000);
    const before = process.cpuUsage();
    for (let at = 0; at < 100; at++) expect(parses(digits, parse)).toBe(false);
    const { user } = process.cpuUsage(before);
    // To read it once as a number takes 100 ms.
    expect(user / 1000).toBeLessThan(1_000);
  });
});

test('D3: of amounts as people write them only those of the spec pattern parse', () => {
  const texts = amountTexts();
  const parsed = texts.filter((text) => parses(text, parseAmount));
  const hasForm = (text: string) => text.length <= AMOUNT_LENGTH_MAX && new RegExp(AMOUNT_PATTERN).test(text);
  expect(parsed).toEqual(texts.filter(hasForm));
  expect(parsed).toHaveLength(HAS_CORPORA ? 17 : 6);
});

describe('H3: rounding', () => {
  test('thousands of random parts add up to the whole, through their strings', () => {
    const cuts = fc.array(fc.nat({ max: 10 ** 9 }), { minLength: 1_000, maxLength: 3_000 });
    fc.assert(
      fc.property(cuts, (points) => {
        const edges = [0, ...points.toSorted((a, b) => a - b), 10 ** 9];
        const parts = edges.slice(1).map((edge, at) => BigInt(edge - (edges[at] ?? 0)) * UNITS_PER_CENT);
        const sum = parts.map((part) => parseNonNegativeAmount(formatAmount(part))).reduce((a, b) => a + b);
        expect(sum).toBe(10n ** 9n * UNITS_PER_CENT);
      }),
      { numRuns: 30 },
    );
  });

  test('a fee is whole cents, never below its exact value and less than a cent above it', () => {
    fc.assert(
      fc.property(units, units, fc.nat({ max: 10_000 }), (amount, flat, basisPoints) => {
        const fee = feeOf(amount, flat, basisPoints);
        const exactTimes10000 = amount * BigInt(basisPoints) + flat * 10_000n;
        expect(fee % UNITS_PER_CENT).toBe(0n);
        expect(fee * 10_000n >= exactTimes10000).toBe(true);
        expect((fee - UNITS_PER_CENT) * 10_000n < exactTimes10000).toBe(true);
      }),
    );
  });

  test.each([
    ['100.00', '1.00', 0, '1.00'],
    ['100.00', '0.00', 25, '0.25'],
    ['0.01', '0.00', 1, '0.01'],
    ['33.33', '0.50', 30, '0.60'],
    ['1000000.00', '2.00', 10_000, '1000002.00'],
  ])('%s with %s flat and %d basis points costs %s', (amount, flat, basisPoints, fee) => {
    const cost = feeOf(parseAmount(amount), parseNonNegativeAmount(flat), basisPoints);
    expect(formatAmount(cost)).toBe(fee);
  });

  test('a part of a basis point or a negative number is refused', () => {
    expect(() => feeOf(1n, 0n, 0.5)).toThrow(RangeError);
    expect(() => feeOf(-1n, 0n, 1)).toThrow(RangeError);
    expect(() => feeOf(1n, -1n, 1)).toThrow(RangeError);
    expect(() => feeOf(1n, 0n, -1)).toThrow(RangeError);
  });
});

test('tokens are written exactly, with two decimals at least', () => {
  expect([0n, 1n, 1_500_000n, 7_996_000n].map(formatTokens)).toEqual(['0.00', '0.000001', '1.50', '7.996']);
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 53n }), (units) => {
      expect(parseTokens(formatTokens(units))).toBe(units);
      expect(formatTokens(units)).toMatch(/^\d+\.\d{2}(?:\d{0,3}[1-9])?$/);
    }),
  );
});
