import type { PaymentStatus } from '@florin/contract/schemas';
import { REFUND_STATUSES } from '@florin/contract/schemas';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { retryMs } from '../transfers/index.ts';
import {
  type ApprovalFacts,
  afterVerdict,
  awaitsApproval,
  balanceOf,
  delayLeft,
  endedAmounts,
  maySend,
  type OwnMoney,
  REFUND_MOVES,
  type RefundVerdict,
  refundAmount,
  refundSourceOf,
} from './states.ts';

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
    // What succeeded and was lost fails where two people give its money back.
    const isFinal = ['failed', 'canceled'].includes(status);
    expect([status, REFUND_MOVES.isFinal(status)]).toEqual([status, isFinal]);
  }
  expect(REFUND_MOVES.table.succeeded).toEqual(['failed']);
  expect(REFUND_MOVES.allows('processing', 'canceled')).toBe(false);
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
  expect(refundSourceOf({ ...MONEY, status }) !== undefined).toBe(isRefundable);
  expect(refundSourceOf({ ...MONEY, status, received: 0n })).toBeUndefined();
});

test('a refund draws on the balance that holds the money, and returns to the one that holds it then', () => {
  expect(balanceOf('completed', false)).toBe('available');
  expect(balanceOf('expired', false)).toBe('held');
  expect(balanceOf('completed', true)).toBe('held');
});

test('amounts above the rest and other currencies are refused; the rest is the default', () => {
  const source = { currency: 'USDT', left: 100n } as const;
  expect(refundAmount(source, { amount: undefined, currency: undefined })).toEqual({ amount: 100n });
  expect(refundAmount(source, { amount: 100n, currency: 'USDT' })).toEqual({ amount: 100n });
  expect(refundAmount(source, { amount: 101n, currency: 'USDT' })).toEqual({ refused: 'amount' });
  expect(refundAmount(source, { amount: 1n, currency: 'USDC' })).toEqual({ refused: 'currency' });
  expect(refundAmount({ ...source, left: 0n }, { amount: undefined, currency: undefined })).toEqual({
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

test('B9: in any order of steps, refunds never exceed the received money, and no unit is lost', () => {
  const check = (steps: readonly Step[], isTransfer: boolean) => {
    const money = { ...MONEY, status: 'expired' as PaymentStatus, received: 0n };
    const books = { available: 0n, held: 0n, refundHold: 0n, gone: 0n };
    let heldOfPayment = 0n;
    const open: bigint[] = [];
    for (const one of steps) {
      if (one.do === 'receive') {
        money.received += one.amount;
        const balance = balanceOf(money.status, isTransfer);
        books[balance] += one.amount;
        if (balance === 'held') heldOfPayment += one.amount;
      } else if (one.do === 'complete' && !isTransfer) {
        money.status = 'completed';
        books.available += heldOfPayment;
        books.held -= heldOfPayment;
        heldOfPayment = 0n;
      } else if (one.do === 'refund') {
        const source = refundSourceOf(money);
        if (source === undefined) continue;
        const size = refundAmount(source, { amount: one.amount, currency: undefined });
        if (!('amount' in size)) continue;
        const balance = balanceOf(money.status, isTransfer);
        books[balance] -= size.amount;
        books.refundHold += size.amount;
        if (balance === 'held') heldOfPayment -= size.amount;
        money.refunding += size.amount;
        open.push(size.amount);
      } else if (one.do === 'end' && open.length > 0) {
        const [amount = 0n] = open.splice(one.which % open.length, 1);
        const balance = balanceOf(money.status, isTransfer);
        const move = endedAmounts(one.how, amount, balance);
        money.refunding += move.refunding;
        money.refunded += move.refunded;
        heldOfPayment += move.held;
        books.refundHold -= amount;
        if (one.how === 'succeeded') books.gone += amount;
        else books[balance] += amount;
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

test('retries back off from one second to 15 seconds', () => {
  fc.assert(
    fc.property(fc.nat({ max: 10_000_000 }), (seconds) => {
      expect(retryMs(seconds)).toBeGreaterThanOrEqual(1_000);
      expect(retryMs(seconds)).toBeLessThanOrEqual(15_000);
      expect(retryMs(seconds + 1)).toBeGreaterThanOrEqual(retryMs(seconds));
    }),
  );
});

const facts: fc.Arbitrary<ApprovalFacts> = fc.record({
  status: fc.constantFrom(...REFUND_STATUSES),
  address: fc.constantFrom(null, '0x1'),
  required_approvals: fc.nat({ max: 3 }),
  approved_at: fc.constantFrom(null, 5n),
});

test('a refund is sent or waits for approval, never both; without an address, and once it is over, neither', () => {
  fc.assert(
    fc.property(facts, (refund) => {
      const open = refund.status === 'pending' && refund.address !== null;
      expect([awaitsApproval(refund), maySend(refund)].filter(Boolean)).toHaveLength(open ? 1 : 0);
      if (maySend(refund)) expect(refund.required_approvals === 0 || refund.approved_at !== null).toBe(true);
    }),
  );
});

test('verdicts in any order: sent after enough approvals without rejection, and decided once', () => {
  const verdicts = fc.array(fc.constantFrom<RefundVerdict>('approved', 'rejected'), { maxLength: 8 });
  fc.assert(
    fc.property(verdicts, fc.integer({ min: 1, max: 5 }), (said, required) => {
      let agreed = 0;
      let end: string = 'waits';
      for (const verdict of said) {
        if (end !== 'waits') break;
        if (verdict === 'approved') agreed += 1;
        end = afterVerdict(verdict, agreed >= required);
      }
      const rejection = said.indexOf('rejected');
      const before = rejection === -1 ? said.length : rejection;
      const expected = before >= required ? 'approved' : rejection === -1 ? 'waits' : 'canceled';
      expect(end).toBe(expected);
    }),
  );
});

test('the remaining delay is never negative, and never more than the delay', () => {
  fc.assert(
    fc.property(fc.nat({ max: 86_400 }), fc.integer({ min: -100, max: 700_000 }), (delay, passed) => {
      const left = delayLeft(delay, passed);
      expect(left).toBeGreaterThanOrEqual(0);
      expect(left).toBeLessThanOrEqual(delay);
      if (passed >= 0 && passed <= delay) expect(left + passed).toBe(delay);
    }),
  );
});
