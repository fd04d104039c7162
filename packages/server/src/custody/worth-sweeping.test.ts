import { expect, test } from 'vitest';
import { isResting, selectWorthy } from './worth-sweeping.ts';

const NOW = 1_000_000_000;
const DAY = 86_400;
const coins = (amount: bigint, ageSeconds = 0) => ({ amount, since: NOW - ageSeconds });
const swept = (
  list: ReturnType<typeof coins>[],
  cost: bigint | undefined,
  isUrgent = false,
  isShared = true,
) =>
  selectWorthy(list, { cost, nowSeconds: NOW, isUrgent, isShared, floor: 500_000n }).map(
    ({ amount }) => amount,
  );

test('each address pays for its share of the fee: one part in a hundred, after a week one in ten', () => {
  // Two addresses, a dollar together.
  expect(swept([coins(50_000_000n), coins(49_999_999n)], 1_000_000n)).toEqual([50_000_000n]);
  const old = [coins(5_000_000n, 7 * DAY), coins(4_999_999n, 8 * DAY), coins(5_000_000n, 7 * DAY - 1)];
  expect(swept(old, 1_500_000n)).toEqual([5_000_000n]);
});

test('when gas is dear they wait, when it is cheap they go', () => {
  expect(swept([coins(100_000_000n)], 1_000_001n)).toEqual([]);
  expect(swept([coins(100_000_000n)], 1_000_000n)).toEqual([100_000_000n]);
});

test('a payment that waits takes whatever is worth more than its fee', () => {
  expect(swept([coins(500_001n), coins(500_000n), coins(1n)], 1_500_000n, true)).toEqual([500_001n]);
});

test('without a price many together are worth it, or a day', () => {
  const few = Array.from({ length: 7 }, () => coins(1n));
  expect(swept(few, undefined)).toEqual([]);
  expect(swept([...few, coins(2n)], undefined)).toHaveLength(8);
  expect(swept([coins(1n, DAY)], undefined)).toEqual([1n]);
  expect(swept([], 5n)).toEqual([]);
});

test('without a price a payment that waits takes no dust', () => {
  expect(swept([coins(1n), coins(500_000n), coins(499_999n)], undefined, true)).toEqual([500_000n]);
  expect(swept([coins(1n, DAY)], undefined, true, false)).toEqual([]);
});

test('where each address is a transaction of its own, many together cost no less', () => {
  const many = Array.from({ length: 12 }, (_, i) => coins(5_000_000n, i === 3 ? DAY : 0));
  expect(swept(many, undefined, false, false)).toEqual([5_000_000n]);
  // 8.4 TRX for each, at 0.29: 5 USDT are not worth it, ever.
  expect(swept([coins(5_000_000n, 30 * DAY)], 2_434_222n, false, false)).toEqual([]);
});

test('an address whose sweeps fail again and again is tried ever more rarely, up to once a day', () => {
  const restOf = (count: number) => {
    const failed = { count, lastAt: NOW };
    const waits = [0, 600, 1_199, 2_399, DAY - 1, DAY].filter((after) => isResting(failed, NOW + after));
    return waits.at(-1);
  };
  expect([1, 2, 3, 9, 40].map(restOf)).toEqual([undefined, 1_199, 2_399, DAY - 1, DAY - 1]);
});
