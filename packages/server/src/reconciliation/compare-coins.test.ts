import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareCoins } from './compare-coins.ts';

const coins = fc.bigInt(0n, 1_000n);

/** The actual coins of a deposit address: all unswept ones, and all or none of a sweep under way. */
const deposit = fc.record({ unswept: coins, sweeping: coins, isSwept: fc.boolean() });

const world = fc.record({
  deposits: fc.array(deposit, { maxLength: 5 }),
  /** In the hot wallet, beside what sweeps under way have brought. */
  hot: coins,
  /** A charge under way, and whether its coins have come. */
  charge: coins,
  isCharged: fc.boolean(),
});

type World = typeof world extends fc.Arbitrary<infer W> ? W : never;

function placed({ deposits, hot, charge, isCharged }: World) {
  const places = deposits.map(({ unswept, sweeping, isSwept }, i) => ({
    address: `deposit ${i}`,
    found: unswept + (isSwept ? 0n : sweeping),
    min: unswept,
    max: unswept + sweeping,
  }));
  const swept = deposits.reduce((sum, one) => sum + (one.isSwept ? one.sweeping : 0n), 0n);
  const booked = hot + deposits.reduce((sum, one) => sum + one.unswept + one.sweeping, 0n);
  const found = hot + swept + (isCharged ? charge : 0n);
  return { expected: booked, hot: { address: 'hot', found, incoming: charge }, deposits: places };
}

test('coins that move between our addresses, or to us, are no mismatch and no surplus', () => {
  fc.assert(
    fc.property(world, (one) => {
      expect(compareCoins(placed(one))).toEqual({ mismatches: [], surplus: 0n });
    }),
  );
});

test('missing coins are found to the unit, whatever strangers send', () => {
  const check = (one: World, dust: bigint, taken: bigint, where: number) => {
    const { expected, hot, deposits } = placed({ ...one, isCharged: false });
    const i = where % (deposits.length + 1);
    const from = deposits[i];
    const loss = from === undefined ? taken : taken + (from.max - from.min);
    const robbed = deposits.map((deposit, at) =>
      at === i ? { ...deposit, found: deposit.found - loss } : deposit,
    );
    const left = { ...hot, found: hot.found + dust - (from === undefined ? loss : 0n) };
    const { mismatches, surplus } = compareCoins({ expected, hot: left, deposits: robbed });
    const missing = mismatches.reduce((sum, one) => sum + one.expected - one.found, 0n);
    // Coins stolen from the hot wallet can be offset by a stranger's there; no other loss can be offset.
    if (from === undefined) expect(missing).toBe(loss > dust ? loss - dust : 0n);
    else expect(missing >= taken).toBe(true);
    expect(surplus <= dust).toBe(true);
    expect(missing > 0n || from === undefined).toBe(true);
  };
  fc.assert(fc.property(world, coins, fc.bigInt(1n, 1_000n), fc.nat({ max: 5 }), check));
});

test('a stranger’s coins are a surplus of the hot wallet; at a deposit address nobody was credited for them', () => {
  const deposits = [{ address: 'deposit', found: 7n, min: 7n, max: 7n }];
  const hot = { address: 'hot', found: 13n, incoming: 0n };
  expect(compareCoins({ expected: 17n, hot, deposits })).toEqual({ mismatches: [], surplus: 3n });
  const more = [{ address: 'deposit', found: 9n, min: 7n, max: 7n }];
  expect(compareCoins({ expected: 20n, hot, deposits: more })).toEqual({
    mismatches: [{ address: 'deposit', expected: 7n, found: 9n }],
    surplus: 0n,
  });
});
