import fc from 'fast-check';
import { expect, test } from 'vitest';
import { crossRate, formatRate, medianRate, movedBeyond, parseRate } from './rate.ts';

/** Rates of every allowed size: 10^-12 up to 10^12. */
const rateText = fc
  .tuple(fc.bigInt({ min: 1n, max: 10n ** 24n - 1n }), fc.constant(12))
  .map(([units, scale]) => {
    const digits = units.toString().padStart(scale + 1, '0');
    return `${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
  });
const rate = rateText.map(parseRate);
/** As a whole number of 10^-12. */
const picos = (text: string) => {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(12, '0'));
};

test.each([
  ['1', '1'],
  ['1.000', '1'],
  ['0.92', '0.92'],
  ['00.920', '0.92'],
  ['1000', '1000'],
  ['8.61e-1', '0.861'],
  ['4.2E+4', '42000'],
  ['0.0000000000019', '0.000000000001'],
  ['0.86123456789112345678901234567890', '0.861234567891'],
  ['999999999999.999999999999', '999999999999.999999999999'],
])('%s is the rate %s', (text, shown) => expect(formatRate(parseRate(text))).toBe(shown));

test.each(
  `0 0.0 -1 +1 NaN Infinity null 1,5 1.5.2 .5 5. 0x1 1_0 1e 1e999 1e12 1000000000000 0.0000000000001 1e-99 ١ ${'9'.repeat(41)}`
    .split(' ')
    .concat(['', ' 1', '1 ', '1\n'])
    .map((text) => [text]),
)('%j is no rate', (text) => expect(() => parseRate(text)).toThrow(RangeError));

test('H3: a rate survives writing and reading to the last of twelve decimals', () => {
  fc.assert(
    fc.property(rateText, (text) => {
      const shown = formatRate(parseRate(text));
      expect(picos(shown)).toBe(picos(text));
      expect(shown).not.toMatch(/\.\d*0$|\.$/);
      expect(parseRate(shown)).toEqual(parseRate(text));
    }),
  );
});

test('the median is between its neighbours, whatever the order, and outliers do not move it', () => {
  expect(formatRate(medianRate(['1.1', '0.9', '77'].map(parseRate)))).toBe('1.1');
  expect(formatRate(medianRate(['1.1', '0.9'].map(parseRate)))).toBe('1');
  expect(formatRate(medianRate(['2', '3'].map(parseRate)))).toBe('2.5');
  expect(() => medianRate([])).toThrow(RangeError);
  fc.assert(
    fc.property(fc.array(rate, { minLength: 1, maxLength: 7 }), (rates) => {
      const sorted = rates
        .map(formatRate)
        .map(picos)
        .toSorted((a, b) => (a < b ? -1 : 1));
      const middle = picos(formatRate(medianRate(rates)));
      expect(middle).toBeGreaterThanOrEqual(sorted[(sorted.length - 1) >> 1] ?? 0n);
      expect(middle).toBeLessThanOrEqual(sorted[sorted.length >> 1] ?? 0n);
      expect(medianRate(rates.toReversed())).toEqual(medianRate(rates));
    }),
  );
});

test('a move is measured from the earlier rate, exactly', () => {
  const moved = (now: string, before: string, basisPoints: number) =>
    movedBeyond(parseRate(now), parseRate(before), basisPoints);
  expect(moved('1.01', '1', 100)).toBe(false);
  expect(moved('1.010000000001', '1', 100)).toBe(true);
  expect(moved('0.99', '1', 100)).toBe(false);
  expect(moved('0.989999999999', '1', 100)).toBe(true);
  expect(moved('1', '1', 0)).toBe(false);
  expect(moved('1.000000000001', '1', 0)).toBe(true);
});

test('the price of one token in another is rounded down to twelve decimals', () => {
  expect(formatRate(crossRate(parseRate('1.01'), parseRate('1')))).toBe('1.01');
  expect(formatRate(crossRate(parseRate('1'), parseRate('0.9')))).toBe('1.111111111111');
  expect(formatRate(crossRate(parseRate('0.9998'), parseRate('0.9998')))).toBe('1');
});
