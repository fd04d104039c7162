import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isDust, QUOTE_GRACE_SECONDS, type QuotedTransfer, quoteLife } from './quote-life.ts';

const T0 = 1_800_000_000;
const ENDS = T0 + 900;
const TOKEN = 1_000_000n;
const OWN = 'address-of-the-option';
const OPTION = { currency: 'USDT', address: OWN, pay_amount: 50n * TOKEN, quote_ends_at: ENDS } as const;

const transfer = (changed: Partial<QuotedTransfer> = {}): QuotedTransfer => ({
  kind: 'counted',
  status: 'final',
  currency: 'USDT',
  address: OWN,
  amount: 10n * TOKEN,
  decision: null,
  seen_at: T0 + 30,
  ...changed,
});
const lifeOf = (transfers: readonly QuotedTransfer[], now = T0 + 60, givenBack = 0n) =>
  quoteLife(OPTION, { transfers, givenBack }, now);
const DUST = transfer({ amount: TOKEN / 2n - 1n });

test('dust is less than a hundredth of what is asked and less than a token', () => {
  expect(isDust(TOKEN / 2n - 1n, 50n * TOKEN)).toBe(true);
  expect(isDust(TOKEN / 2n, 50n * TOKEN)).toBe(false);
  expect(isDust(TOKEN - 1n, 5_000n * TOKEN)).toBe(true);
  expect(isDust(TOKEN, 5_000n * TOKEN)).toBe(false);
});

test('money in time holds a quote for good; dust, alone or with what does not count, lets it end', () => {
  expect(lifeOf([], ENDS - 1)).toBe('running');
  expect(lifeOf([], ENDS)).toBe('over');
  expect(lifeOf([transfer()], ENDS + 86_400)).toBe('held');
  expect(lifeOf([transfer({ status: 'seen' })], ENDS)).toBe('held');
  expect(lifeOf([DUST], ENDS - 1)).toBe('running');
  expect(lifeOf([DUST], ENDS)).toBe('over');
  const nothing = [
    transfer({ status: 'gone' }),
    transfer({ kind: 'wrong_token', currency: 'USDC' }),
    transfer({ kind: 'unlisted', currency: null }),
    transfer({ kind: 'wrong_token', address: 'another' }),
    transfer({ kind: 'seized', currency: 'USDC' }),
    transfer({ kind: 'seized', decision: 'kept' }),
  ];
  expect(lifeOf([...nothing, DUST], ENDS)).toBe('over');
});

test('a listed sender holds a quote as others do, but not with dust', () => {
  expect(lifeOf([transfer({ kind: 'seized' })], ENDS)).toBe('held');
  expect(lifeOf([{ ...DUST, kind: 'seized' }], ENDS)).toBe('over');
});

test('dust in pieces holds it from the piece on that makes it more; later than that it is due at a new one', () => {
  const two = (seen_at: number) => [DUST, { ...DUST, seen_at }];
  expect(lifeOf(two(ENDS + QUOTE_GRACE_SECONDS), ENDS + 500)).toBe('held');
  expect(lifeOf(two(ENDS + QUOTE_GRACE_SECONDS + 1), ENDS + 500)).toBe('due');
  expect(lifeOf([DUST, transfer({ seen_at: ENDS + 600 })], ENDS + 700)).toBe('due');
});

test('what is refunded holds nothing: dust that was given back does not make the next one more', () => {
  expect(lifeOf([DUST, DUST], ENDS, DUST.amount)).toBe('over');
  expect(lifeOf([transfer()], ENDS, 10n * TOKEN)).toBe('over');
  expect(lifeOf([transfer(), transfer()], ENDS, 10n * TOKEN)).toBe('held');
});

const transfers = fc.array(
  fc.record({
    kind: fc.constantFrom('counted', 'wrong_token', 'seized', 'unlisted'),
    status: fc.constantFrom('seen', 'final', 'gone'),
    currency: fc.constantFrom('USDT', 'USDC', null),
    address: fc.constantFrom(OWN, 'another'),
    amount: fc.oneof(fc.bigInt(1n, TOKEN), fc.bigInt(1n, 60n * TOKEN)),
    decision: fc.constantFrom(null, 'kept'),
    seen_at: fc.integer({ min: T0, max: ENDS + 86_400 }),
  }) as fc.Arbitrary<QuotedTransfer>,
  { maxLength: 8 },
);
const moments = fc.integer({ min: T0, max: ENDS + 2 * 86_400 });

test('whatever comes: order does not matter, dust alone never holds, a new quote is due no more, and time undoes nothing', () => {
  fc.assert(
    fc.property(transfers, moments, fc.integer({ min: 0, max: 86_400 }), (list, now, later) => {
      const life = lifeOf(list, now);
      expect(lifeOf(list.toReversed(), now)).toBe(life);
      const counting = list.filter((t) => t.currency === 'USDT' && t.address === OWN && t.status !== 'gone');
      const most = counting.reduce((sum, { amount }) => sum + amount, 0n);
      if (isDust(most, OPTION.pay_amount)) expect(['running', 'over']).toContain(life);
      if (life === 'held' || life === 'due') expect(lifeOf(list, now + later)).toBe(life);
      // Nothing is seen in the future, so that a quote made now ends after all that was seen.
      const seen = list.filter((t) => Number(t.seen_at) <= now);
      const fresh = { ...OPTION, quote_ends_at: now + 900 };
      expect(quoteLife(fresh, { transfers: seen, givenBack: 0n }, now)).not.toBe('due');
    }),
    { numRuns: 2_000 },
  );
});
