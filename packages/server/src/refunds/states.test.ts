import type { PaymentStatus } from '@florin/contract/schemas';
import { REFUND_STATUSES } from '@florin/contract/schemas';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { retryMs } from '../transfers/index.ts';
import { amountOf, endMove, MOVES, type OwnMoney, placeOf, potOf } from './states.ts';

const MONEY: OwnMoney = {
  status: 'completed',
  currency: 'USDT',
  network: 'erc20',
  received: 100n,
  refunded: 0n,
  refunding: 0n,
};

test('nothing leaves a final status, and every other one has an end', () => {
  for (const status of REFUND_STATUSES) {
    const isFinal = ['succeeded', 'failed', 'canceled'].includes(status);
    expect([status, MOVES[status].length === 0]).toEqual([status, isFinal]);
  }
  expect(MOVES.processing).not.toContain('canceled');
});

test.each<[PaymentStatus, boolean]>([
  ['pending', false],
  ['processing', false],
  ['frozen', false],
  ['failed', false],
  ['completed', true],
  ['expired', true],
  ['cancelled', true],
])('the own money of a payment that is %s: refundable %s', (status, isRefundable) => {
  expect(potOf({ ...MONEY, status }) !== undefined).toBe(isRefundable);
  expect(potOf({ ...MONEY, status, received: 0n })).toBeUndefined();
});

test('money comes from where it lies, and goes back to where it lies by then', () => {
  expect(placeOf('completed', false)).toBe('available');
  expect(placeOf('expired', false)).toBe('held');
  expect(placeOf('completed', true)).toBe('held');
});

test('an amount above what is left, and a foreign currency, are refused; all that is left is the default', () => {
  const pot = { currency: 'USDT', left: 100n } as const;
  expect(amountOf(pot, { amount: undefined, currency: undefined })).toEqual({ amount: 100n });
  expect(amountOf(pot, { amount: 100n, currency: 'USDT' })).toEqual({ amount: 100n });
  expect(amountOf(pot, { amount: 101n, currency: 'USDT' })).toEqual({ refused: 'amount' });
  expect(amountOf(pot, { amount: 1n, currency: 'USDC' })).toEqual({ refused: 'currency' });
  expect(amountOf({ ...pot, left: 0n }, { amount: undefined, currency: undefined })).toEqual({
    refused: 'amount',
  });
});

/** Something that happens to a payment whose money is refunded. */
const step = fc.oneof(
  fc.record({ do: fc.constant('receive' as const), amount: fc.bigInt(1n, 100n) }),
  fc.record({ do: fc.constant('complete' as const) }),
  fc.record({
    do: fc.constant('refund' as const),
    amount: fc.option(fc.bigInt(1n, 150n), { nil: undefined }),
  }),
  fc.record({
    do: fc.constant('end' as const),
    which: fc.nat({ max: 9 }),
    how: fc.constantFrom('succeeded' as const, 'failed' as const, 'canceled' as const),
  }),
);

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

test('B9: whatever happens in whatever order, refunds never take more than came, and no unit is lost', () => {
  const check = (steps: readonly Step[], isTransfer: boolean) => {
    const money = { ...MONEY, status: 'expired' as PaymentStatus, received: 0n };
    const books = { available: 0n, held: 0n, refundHold: 0n, gone: 0n };
    let heldOfPayment = 0n;
    const open: bigint[] = [];
    for (const one of steps) {
      if (one.do === 'receive') {
        money.received += one.amount;
        const place = placeOf(money.status, isTransfer);
        books[place] += one.amount;
        if (place === 'held') heldOfPayment += one.amount;
      } else if (one.do === 'complete' && !isTransfer) {
        money.status = 'completed';
        books.available += heldOfPayment;
        books.held -= heldOfPayment;
        heldOfPayment = 0n;
      } else if (one.do === 'refund') {
        const pot = potOf(money);
        if (pot === undefined) continue;
        const size = amountOf(pot, { amount: one.amount, currency: undefined });
        if (!('amount' in size)) continue;
        const place = placeOf(money.status, isTransfer);
        books[place] -= size.amount;
        books.refundHold += size.amount;
        if (place === 'held') heldOfPayment -= size.amount;
        money.refunding += size.amount;
        open.push(size.amount);
      } else if (one.do === 'end' && open.length > 0) {
        const [amount = 0n] = open.splice(one.which % open.length, 1);
        const place = placeOf(money.status, isTransfer);
        const move = endMove(one.how, amount, place);
        money.refunding += move.refunding;
        money.refunded += move.refunded;
        heldOfPayment += move.held;
        books.refundHold -= amount;
        if (one.how === 'succeeded') books.gone += amount;
        else books[place] += amount;
      }
      const { received, refunded, refunding } = money;
      expect(refunded + refunding <= received).toBe(true);
      expect(refunding).toBe(books.refundHold);
      expect(refunded).toBe(books.gone);
      expect(heldOfPayment).toBe(books.held);
      expect(Object.values(books).every((sum) => sum >= 0n)).toBe(true);
      expect(books.available + books.held + books.refundHold + books.gone).toBe(received);
    }
  };
  fc.assert(fc.property(fc.array(step, { maxLength: 40 }), fc.boolean(), check));
});

test('what waits longer is tried less often, within a second and a quarter of a minute', () => {
  fc.assert(
    fc.property(fc.nat({ max: 10_000_000 }), (seconds) => {
      expect(retryMs(seconds)).toBeGreaterThanOrEqual(1_000);
      expect(retryMs(seconds)).toBeLessThanOrEqual(15_000);
      expect(retryMs(seconds + 1)).toBeGreaterThanOrEqual(retryMs(seconds));
    }),
  );
});
