import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareCoins } from './compare-coins.ts';

const coins = fc.bigInt(0n, 1_000n);

/**
 * The actual coins of a deposit address: all unswept ones, and all or none of a sweep under way. `moving` is a sweep in the blocks that
 * the balances are as of, each end as of its own block; `arriving` comes in these blocks.
 */
const deposit = fc.record({
  unswept: coins,
  sweeping: coins,
  isSwept: fc.boolean(),
  moving: coins,
  hasLeft: fc.boolean(),
  hasCome: fc.boolean(),
  arriving: coins,
  isSeen: fc.boolean(),
});

const world = fc.record({
  deposits: fc.array(deposit, { maxLength: 5 }),
  /** In the hot wallet, beside what sweeps under way have brought. */
  hot: coins,
  /** A charge under way, and whether its coins have come. */
  charge: coins,
  isCharged: fc.boolean(),
  /** A payout in the blocks that the balances are as of. */
  payout: coins,
  isPaid: fc.boolean(),
});

type World = typeof world extends fc.Arbitrary<infer W> ? W : never;

/** The balances are as of one block. */
const atOnce = (one: World): World => ({
  ...one,
  payout: 0n,
  deposits: one.deposits.map((deposit) => ({ ...deposit, moving: 0n, arriving: 0n })),
});

function placed({ deposits, hot, charge, isCharged, payout, isPaid }: World) {
  const places = deposits.map((one, i) => {
    const { unswept, sweeping, isSwept, moving, hasLeft, arriving, isSeen } = one;
    const found = unswept + (isSwept ? 0n : sweeping) + (hasLeft ? 0n : moving) + (isSeen ? arriving : 0n);
    const max = unswept + sweeping + moving;
    return { address: `deposit ${i}`, found, min: unswept, max, arriving, moving };
  });
  const sum = (of: (one: World['deposits'][number]) => bigint) =>
    deposits.reduce((total, one) => total + of(one), 0n);
  const come = sum((one) => (one.isSwept ? one.sweeping : 0n) + (one.hasCome ? one.moving : 0n));
  const expected = hot + payout + sum((one) => one.unswept + one.sweeping + one.moving);
  const found = hot + come + (isCharged ? charge : 0n) + (isPaid ? 0n : payout);
  const moves = { incoming: charge, outgoing: payout, moving: 0n };
  return { expected, hot: { address: 'hot', found, ...moves }, deposits: places };
}

test('coins that move between our addresses, or to us, or within the blocks that are read, are no mismatch and no surplus', () => {
  fc.assert(
    fc.property(world, (one) => {
      expect(compareCoins(placed(one))).toMatchObject({ mismatches: [], surplus: 0n });
    }),
  );
});

test('missing coins are found to the unit, whatever strangers send', () => {
  const check = (one: World, dust: bigint, taken: bigint, where: number) => {
    const { expected, hot, deposits } = placed(atOnce({ ...one, isCharged: false }));
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

const missingIn = ({ mismatches, hidden }: ReturnType<typeof compareCoins>) =>
  mismatches.reduce((sum, { expected, found }) => sum + expected - found, hidden);

test('what is missing is a difference, or it is said that as much may be hidden by what moved within the blocks that are read', () => {
  const check = (one: World, taken: bigint, where: number) => {
    const { expected, hot, deposits } = placed({ ...one, isCharged: false });
    const i = where % (deposits.length + 1);
    const { isSeen = true, hasLeft = true, hasCome = false } = one.deposits[i] ?? {};
    // Coins that have come to the hot wallet were not taken from the address that they were swept from, nor those that it does not have yet.
    if (!isSeen || (hasCome && !hasLeft)) return;
    const robbed = deposits.map((deposit, at) =>
      at === i ? { ...deposit, found: deposit.found - taken } : deposit,
    );
    const left = i < deposits.length ? hot : { ...hot, found: hot.found - taken };
    expect(missingIn(compareCoins({ expected, hot: left, deposits: robbed })) >= taken).toBe(true);
  };
  fc.assert(fc.property(world, fc.bigInt(1n, 1_000n), fc.nat({ max: 5 }), check));
});

test('nothing is hidden where all balances are as of one block', () => {
  fc.assert(
    fc.property(world, fc.bigInt(0n, 1_000n), (one, taken) => {
      const { expected, hot, deposits } = placed(atOnce({ ...one, isCharged: false }));
      const less = { ...hot, found: hot.found - taken };
      const compared = compareCoins({ expected, hot: less, deposits });
      expect([compared.hidden, missingIn(compared)]).toEqual([0n, taken]);
    }),
  );
});

test('an address explains what itself has moved, in the direction that it shows', () => {
  const hot = { address: 'hot', found: 0n, incoming: 0n, outgoing: 0n, moving: 0n };
  const address = { address: 'deposit', min: 0n, max: 10n, arriving: 0n, moving: 10n };
  const compare = (found: bigint, inHot: bigint) =>
    compareCoins({ expected: 10n, hot: { ...hot, found: inHot }, deposits: [{ ...address, found }] });
  // It has left, and has not come; or it is seen twice.
  expect(compare(0n, 0n)).toEqual({ mismatches: [], surplus: 0n, hidden: 10n });
  expect(compare(10n, 10n)).toEqual({ mismatches: [], surplus: 0n, hidden: 0n });
  // It has come: nothing else does so for it.
  expect(compare(0n, 10n)).toEqual({ mismatches: [], surplus: 0n, hidden: 0n });
  expect(compare(0n, 11n)).toEqual({ mismatches: [], surplus: 1n, hidden: 0n });
  const elsewhere = [{ ...address, found: 10n, moving: 0n, max: 10n, min: 10n }];
  expect(compareCoins({ expected: 20n, hot: { ...hot, found: 9n }, deposits: elsewhere })).toEqual({
    mismatches: [{ address: 'hot', expected: 10n, found: 9n }],
    surplus: 0n,
    hidden: 0n,
  });
});

test('a stranger’s coins are a surplus of the hot wallet; at a deposit address nobody was credited for them', () => {
  const deposits = [{ address: 'deposit', found: 7n, min: 7n, max: 7n, arriving: 0n, moving: 0n }];
  const hot = { address: 'hot', found: 13n, incoming: 0n, outgoing: 0n, moving: 0n };
  expect(compareCoins({ expected: 17n, hot, deposits })).toEqual({ mismatches: [], surplus: 3n, hidden: 0n });
  const more = [{ address: 'deposit', found: 9n, min: 7n, max: 7n, arriving: 0n, moving: 0n }];
  expect(compareCoins({ expected: 20n, hot, deposits: more })).toEqual({
    mismatches: [{ address: 'deposit', expected: 7n, found: 9n }],
    surplus: 0n,
    hidden: 0n,
  });
});
