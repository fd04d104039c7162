import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FeeCeilingReached, SigningBlocked } from '../port/port-errors.ts';
import { type FeeCeilings, type Fees, presentPrice, priceOf, replacementOf, TIP_MIN } from './fees.ts';

const GWEI = 1_000_000_000n;
const CEILINGS: FeeCeilings = { maxFeePerGas: 200n * GWEI, maxPriorityFeePerGas: 10n * GWEI };

const wei = (max: bigint) => fc.bigInt({ min: 0n, max });
const histories = fc.record({
  nextBaseFee: fc.oneof(wei(1_000n * GWEI), wei(10n)),
  tips: fc.array(fc.oneof(wei(500n * GWEI), wei(2n * GWEI)), { maxLength: 20 }),
});
const ceilings = fc.record({
  maxFeePerGas: fc.bigInt({ min: 2n * TIP_MIN, max: 500n * GWEI }),
  maxPriorityFeePerGas: fc.bigInt({ min: 2n, max: 50n * GWEI }),
});

function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof FeeCeilingReached) return undefined;
    throw error;
  }
}

function expectLegal(fees: Fees, under: FeeCeilings): void {
  expect(fees.maxFeePerGas).toBeLessThanOrEqual(under.maxFeePerGas);
  expect(fees.maxPriorityFeePerGas).toBeLessThanOrEqual(under.maxPriorityFeePerGas);
  expect(fees.maxPriorityFeePerGas).toBeLessThanOrEqual(fees.maxFeePerGas);
  expect(fees.maxPriorityFeePerGas).toBeGreaterThan(0n);
}

describe('fees of a new transaction', () => {
  test('twice the base fee and the median tip', () => {
    const history = { nextBaseFee: 3n * GWEI, tips: [GWEI, 9n * GWEI, 2n * GWEI] };
    expect(priceOf(history, CEILINGS)).toEqual({
      maxFeePerGas: 8n * GWEI,
      maxPriorityFeePerGas: 2n * GWEI,
    });
    expect(presentPrice(history, CEILINGS)).toBe(5n * GWEI);
  });

  test('empty blocks: a small tip', () => {
    expect(priceOf({ nextBaseFee: 0n, tips: [] }, CEILINGS)).toEqual({
      maxFeePerGas: TIP_MIN,
      maxPriorityFeePerGas: TIP_MIN,
    });
  });

  test('one block of absurd tips moves nothing', () => {
    const quiet = { nextBaseFee: GWEI, tips: [GWEI, GWEI, GWEI, GWEI] };
    const bribed = { ...quiet, tips: [...quiet.tips, 10_000n * GWEI] };
    expect(priceOf(bribed, CEILINGS)).toEqual(priceOf(quiet, CEILINGS));
  });

  test('a base fee at the ceiling waits, and says what to do', () => {
    const history = { nextBaseFee: 200n * GWEI, tips: [] };
    expect(() => priceOf(history, CEILINGS)).toThrow('raise max_fee_per_gas in the networks file');
    expect(() => priceOf(history, CEILINGS)).toThrow(SigningBlocked);
    const reserved = { nextBaseFee: 180n * GWEI, tips: [] };
    expect(() => priceOf(reserved, CEILINGS)).toThrow('at the 177777777777 that may be offered');
  });

  test('property: below every ceiling, and above the next base fee', () => {
    fc.assert(
      fc.property(histories, ceilings, (history, under) => {
        const fees = attempt(() => priceOf(history, under));
        if (fees === undefined) {
          expect((history.nextBaseFee + TIP_MIN) * 9n).toBeGreaterThan(under.maxFeePerGas * 8n);
          return;
        }
        expectLegal(fees, under);
        expect(fees.maxFeePerGas).toBeGreaterThan(history.nextBaseFee);
      }),
    );
  });
});

const UNDER = { ceilings: CEILINGS, isFill: false };

describe('fees of a replacement', () => {
  test('an eighth more of both, rounded up', () => {
    const replaced = { maxFeePerGas: 101n, maxPriorityFeePerGas: 0n };
    expect(
      replacementOf({ ...replaced, maxFeePerGas: TIP_MIN * 100n }, { nextBaseFee: 0n, tips: [] }, UNDER),
    ).toEqual({ maxFeePerGas: (TIP_MIN * 1_125n) / 10n, maxPriorityFeePerGas: TIP_MIN });
    const high = { maxFeePerGas: 100n * GWEI + 1n, maxPriorityFeePerGas: 4n * GWEI + 1n };
    expect(replacementOf(high, { nextBaseFee: 0n, tips: [] }, UNDER)).toEqual({
      maxFeePerGas: 112_500_000_002n,
      maxPriorityFeePerGas: 4_500_000_002n,
    });
  });

  test('where fees have risen further it follows them', () => {
    const replaced = { maxFeePerGas: 10n * GWEI, maxPriorityFeePerGas: GWEI };
    const history = { nextBaseFee: 40n * GWEI, tips: [3n * GWEI] };
    expect(replacementOf(replaced, history, UNDER)).toEqual(priceOf(history, CEILINGS));
  });

  test('at the ceiling of either fee there is none', () => {
    const history = { nextBaseFee: GWEI, tips: [GWEI] };
    const full = { maxFeePerGas: 178n * GWEI, maxPriorityFeePerGas: GWEI };
    const tipped = { maxFeePerGas: 50n * GWEI, maxPriorityFeePerGas: 9n * GWEI };
    expect(() => replacementOf(full, history, UNDER)).toThrow(FeeCeilingReached);
    expect(() => replacementOf(tipped, history, UNDER)).toThrow(/maxPriorityFeePerGas of 9000000000 wei/);
  });

  test('property: geth and others take it in place of every version before it, up to the ceilings', () => {
    fc.assert(
      fc.property(histories, fc.array(histories, { maxLength: 40 }), ceilings, (first, later, under) => {
        let fees = attempt(() => priceOf(first, under));
        for (const history of later) {
          if (fees === undefined) return;
          const replaced: Fees = fees;
          const next = attempt(() => replacementOf(replaced, history, { ceilings: under, isFill: false }));
          if (next === undefined) return;
          expectLegal(next, under);
          for (const fee of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
            expect(next[fee] * 8n).toBeGreaterThanOrEqual(replaced[fee] * 9n);
            expect(next[fee]).toBeGreaterThan(replaced[fee]);
          }
          fees = next;
        }
      }),
    );
  });

  test('property: a fill takes the place of every version, while the base fee is below the ceiling', () => {
    fc.assert(
      fc.property(
        fc.array(histories, { minLength: 1, maxLength: 40 }),
        histories,
        ceilings,
        ([first, ...later], now, under) => {
          const versions: Fees[] = [];
          const add = (make: () => Fees) => versions.push(...[attempt(make) ?? []].flat());
          if (first !== undefined) add(() => priceOf(first, under));
          for (const history of later) {
            const last = versions.at(-1);
            if (last !== undefined)
              add(() => replacementOf(last, history, { ceilings: under, isFill: false }));
          }
          const nextBaseFee = now.nextBaseFee % (under.maxFeePerGas - TIP_MIN + 1n);
          for (const replaced of versions) {
            const fill = replacementOf(replaced, { ...now, nextBaseFee }, { ceilings: under, isFill: true });
            expectLegal(fill, under);
            for (const fee of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const)
              expect(fill[fee] * 8n).toBeGreaterThanOrEqual(replaced[fee] * 9n);
          }
        },
      ),
    );
  });
});
