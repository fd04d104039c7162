import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  bindingQuote,
  isDust,
  QUOTE_GRACE_SECONDS,
  type QuotedOption,
  type QuotedTransfer,
  quoteStatus,
} from './quote-status.ts';

const T0 = 1_800_000_000;
const ENDS = T0 + 900;
const TOKEN = 1_000_000n;
const OWN = 'address-of-the-option';
const OPTION = {
  currency: 'USDT',
  address: OWN,
  pay_amount: 50n * TOKEN,
  earlierAmounts: [],
  quoted_at: T0,
  quote_ends_at: ENDS,
} as const;

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
const lifeOf = (transfers: readonly QuotedTransfer[], now = T0 + 60, refunded = 0n) =>
  quoteStatus(OPTION, { transfers, refunded }, now);
const DUST = transfer({ amount: TOKEN / 2n - 1n });

test('dust is less than 1/100 of the amount due and less than one token', () => {
  expect(isDust(TOKEN / 2n - 1n, 50n * TOKEN)).toBe(true);
  expect(isDust(TOKEN / 2n, 50n * TOKEN)).toBe(false);
  expect(isDust(TOKEN - 1n, 5_000n * TOKEN)).toBe(true);
  expect(isDust(TOKEN, 5_000n * TOKEN)).toBe(false);
});

test('money in time binds a quote for good; dust, with or without other tokens, lets it end', () => {
  expect(lifeOf([], ENDS - 1)).toBe('running');
  expect(lifeOf([], ENDS)).toBe('over');
  expect(lifeOf([transfer()], ENDS + 86_400)).toBe('binding');
  expect(lifeOf([transfer({ status: 'seen' })], ENDS)).toBe('binding');
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

test('a sanctioned sender binds a quote like any other, but not with dust', () => {
  expect(lifeOf([transfer({ kind: 'seized' })], ENDS)).toBe('binding');
  expect(lifeOf([{ ...DUST, kind: 'seized' }], ENDS)).toBe('over');
});

test('pieces of dust bind the quote once their sum is no dust; too late, they are due at a new quote', () => {
  const two = (seen_at: number) => [DUST, { ...DUST, seen_at }];
  expect(lifeOf(two(ENDS + QUOTE_GRACE_SECONDS), ENDS + 500)).toBe('binding');
  expect(lifeOf(two(ENDS + QUOTE_GRACE_SECONDS + 1), ENDS + 500)).toBe('due');
  expect(lifeOf([DUST, transfer({ seen_at: ENDS + 600 })], ENDS + 700)).toBe('due');
});

test('refunded money locks nothing: refunded dust does not add to the next dust', () => {
  expect(lifeOf([DUST, DUST], ENDS, DUST.amount)).toBe('over');
  expect(lifeOf([transfer()], ENDS, 10n * TOKEN)).toBe('over');
  expect(lifeOf([transfer(), transfer()], ENDS, 10n * TOKEN)).toBe('binding');
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

test('any transfers: order does not matter, dust alone never locks, a new quote is not due, and time undoes nothing', () => {
  fc.assert(
    fc.property(transfers, moments, fc.integer({ min: 0, max: 86_400 }), (list, now, retryAfter) => {
      const life = lifeOf(list, now);
      expect(lifeOf(list.toReversed(), now)).toBe(life);
      const counting = list.filter((t) => t.currency === 'USDT' && t.address === OWN && t.status !== 'gone');
      const most = counting.reduce((sum, { amount }) => sum + amount, 0n);
      if (isDust(most, OPTION.pay_amount)) expect(['running', 'over']).toContain(life);
      if (life === 'binding' || life === 'due') expect(lifeOf(list, now + retryAfter)).toBe(life);
      // Nothing is seen in the future, so that a quote made now ends after all that was seen.
      const seen = list.filter((t) => Number(t.seen_at) <= now);
      const fresh = { ...OPTION, quote_ends_at: now + 900 };
      expect(quoteStatus(fresh, { transfers: seen, refunded: 0n }, now)).not.toBe('due');
    }),
    { numRuns: 2_000 },
  );
});

test('a lowered price does not change earlier money: dust stays dust, and a binding quote stays binding', () => {
  const step = fc.record({
    wait: fc.integer({ min: 0, max: 900 }),
    what: fc.oneof(
      fc.record({ sent: fc.bigInt(1n, 2n * TOKEN) }),
      fc.record({ loweredTo: fc.integer({ min: 1, max: 99 }) }),
    ),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      let now = T0;
      let option: QuotedOption = OPTION;
      const sent: QuotedTransfer[] = [];
      const life = () => quoteStatus(option, { transfers: sent, refunded: 0n }, now);
      for (const { wait, what } of steps) {
        now += wait;
        if ('sent' in what) {
          sent.push(transfer({ amount: what.sent, seen_at: now }));
          continue;
        }
        const before = life();
        const { pay_amount: payAmount, earlierAmounts } = option;
        const lowered = (payAmount * BigInt(what.loweredTo)) / 100n + 1n;
        option = {
          ...option,
          pay_amount: lowered,
          earlierAmounts: [...earlierAmounts, { until: now, payAmount }],
        };
        expect(life()).toBe(before);
      }
    }),
    { numRuns: 2_000 },
  );
});

const quote = (quoted_at: number, pay_amount: bigint) => ({
  ...OPTION,
  pay_amount,
  quoted_at,
  quote_ends_at: quoted_at + 900,
});
const FIRST = quote(T0, 50n * TOKEN);
const lockedBy = (quotes: readonly QuotedOption[], seen_at: number, amount = 40n * TOKEN) =>
  bindingQuote(quotes, { transfers: [transfer({ seen_at, amount })], refunded: 0n });

test('money counts at the quote that was valid when it was sent, however many were made since', () => {
  const second = quote(ENDS + 10, 80n * TOKEN);
  for (const seenAt of [T0, ENDS, ENDS + QUOTE_GRACE_SECONDS])
    expect(lockedBy([FIRST, second], seenAt)).toBe(FIRST);
  expect(lockedBy([FIRST, second], ENDS + QUOTE_GRACE_SECONDS + 1)).toBe(second);
  // Made only after the money was sent, long after the first one's end.
  const third = quote(ENDS + 5_000, 60n * TOKEN);
  expect(lockedBy([FIRST, third], ENDS + 4_000)).toBe(third);
  expect(lockedBy([FIRST, third], ENDS + 5_000 + 900 + QUOTE_GRACE_SECONDS + 1)).toBeUndefined();
  expect(lockedBy([FIRST, third], ENDS, TOKEN / 3n)).toBeUndefined();
});

test('of two valid quotes the lower amount counts; a later quote never counts', () => {
  const cheaper = quote(ENDS + 10, 40n * TOKEN);
  expect(lockedBy([FIRST, cheaper], ENDS + 9)).toBe(FIRST);
  expect(lockedBy([FIRST, cheaper], ENDS + 10)).toBe(cheaper);
});
