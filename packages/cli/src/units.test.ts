import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatMinor, formatUnits } from './units.ts';

test('units are written with all six digits', () => {
  expect([0n, 1n, -1n, 12_500_000n, -1_500_000n].map(formatUnits)).toEqual([
    '0.000000',
    '0.000001',
    '-0.000001',
    '12.500000',
    '-1.500000',
  ]);
});

test('no unit is lost, however large the sum', () => {
  fc.assert(
    fc.property(fc.bigInt(), (units) => {
      expect(BigInt(formatUnits(units).replace('.', ''))).toBe(units);
    }),
  );
});

test('other currencies are written with the digits of their smallest unit', () => {
  const written = ['USD', 'JPY', 'KWD', 'USDT', 'none'].map((currency) => formatMinor(-1_999n, currency));
  expect(written).toEqual(['-19.99', '-1999', '-1.999', '-0.001999', '-1999']);
});
