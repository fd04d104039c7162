import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UnbuildableTransfer } from '../port/port-errors.ts';
import { expectedGas, type GasUse, gasLimit, mostThatFit, TX_GAS_MAX } from './gas.ts';

const counts = fc.nat(300);
const uses: fc.Arbitrary<GasUse> = fc.oneof(
  fc
    .array(fc.nat(2_000), { minLength: 1, maxLength: 300 })
    .map((places): GasUse => ({ kind: 'batch', places })),
  fc.constantFrom<GasUse>({ kind: 'transfer' }, { kind: 'plain' }, { kind: 'approve' }),
  fc.nat(24_576).map((bytes): GasUse => ({ kind: 'deploy', bytes })),
  fc.tuple(counts, counts).map(
    ([addresses, some]): GasUse => ({
      kind: 'sweep',
      addresses: addresses + 1,
      authorizations: Math.min(some, addresses + 1),
    }),
  ),
);
const range = (length: number) => Array.from({ length }, (_, place) => place);

describe('gas limits', () => {
  test('property: above what is expected, never above the ceilings', () => {
    fc.assert(
      fc.property(uses, fc.bigInt({ min: 21_000n, max: 30_000_000n }), (use, ceiling) => {
        try {
          const limit = gasLimit(use, ceiling);
          expect(limit).toBeGreaterThan(expectedGas(use));
          expect(limit).toBeLessThanOrEqual(ceiling);
          expect(limit).toBeLessThanOrEqual(TX_GAS_MAX);
        } catch (error) {
          expect(error).toBeInstanceOf(UnbuildableTransfer);
        }
      }),
    );
  });

  test('property: BatchPayout keeps 203,000 above what each item and each word may use', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5_000), { minLength: 1, maxLength: 200 }), (places) => {
        const use: GasUse = { kind: 'batch', places };
        expect(gasLimit(use, TX_GAS_MAX) - expectedGas(use)).toBeGreaterThanOrEqual(203_000n);
      }),
    );
  });

  test('200 items fit at the ceiling of a transaction, 500 do not', () => {
    expect(gasLimit({ kind: 'batch', places: range(200) }, TX_GAS_MAX)).toBeLessThan(9_000_000n);
    expect(() => gasLimit({ kind: 'batch', places: range(500) }, TX_GAS_MAX)).toThrow(
      'a transaction of 20325100 gas is above the ceiling of 16777216: make it smaller',
    );
  });

  test('a place in another word of 256 is counted', () => {
    const near = expectedGas({ kind: 'batch', places: [0, 255] });
    expect(expectedGas({ kind: 'batch', places: [0, 256] }) - near).toBe(22_100n);
    expect(expectedGas({ kind: 'batch', places: [0, 256, 1] }) - near).toBe(31_100n + 2n * 22_100n);
  });

  test('property: as many as fit are the most that fit', () => {
    const sweep = (n: number): GasUse => ({ kind: 'sweep', addresses: n, authorizations: n });
    fc.assert(
      fc.property(fc.bigInt({ min: 21_000n, max: 40_000_000n }), (ceiling) => {
        const n = mostThatFit(50, ceiling, sweep);
        if (n > 0) expect(gasLimit(sweep(n), ceiling)).toBeGreaterThan(0n);
        if (n < 50) expect(() => gasLimit(sweep(n + 1), ceiling)).toThrow(UnbuildableTransfer);
      }),
    );
  });
});
