import { ASSETS, NETWORKS } from '@florin/contract/money';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Account, imbalance, type Posting } from '../../ledger/index.ts';
import { arrivalPostings, keptPostings, releaseHeldPostings, unseizePostings } from './postings.ts';

const coins = fc.record({
  currency: fc.constantFrom(...ASSETS),
  network: fc.constantFrom(...NETWORKS),
  amount: fc.bigInt({ min: 1n, max: 10n ** 15n }),
});
const kind = fc.constantFrom('counted' as const, 'wrong_token' as const);

const GROW_BY_DEBIT = ['custody', 'custody_hold', 'float'];

/** What a journal leaves in each account that it changes. */
function after(postings: readonly Posting[]): Map<Account, bigint> {
  const left = new Map<Account, bigint>();
  const add = (account: Account, debit: bigint) => {
    const grows = GROW_BY_DEBIT.includes(account.split(':')[0] ?? '') ? debit : -debit;
    left.set(account, (left.get(account) ?? 0n) + grows);
  };
  for (const { debit, credit, amount } of postings) {
    add(debit, amount);
    add(credit, -amount);
  }
  return new Map([...left].filter(([, balance]) => balance !== 0n));
}

test('I1: a released seizure has the balances of a normal arrival; a kept one leaves the merchant nothing', () => {
  fc.assert(
    fc.property(coins, kind, fc.boolean(), (what, as, isCompleted) => {
      const seized = arrivalPostings('p', { ...what, kind: 'seized' }, isCompleted);
      expect(imbalance(after(seized))).toBe(0n);
      const arrival = arrivalPostings('p', { ...what, kind: as }, isCompleted);
      const released = after([...seized, ...unseizePostings('p', what), ...arrival]);
      expect(released).toEqual(after(arrival));
      expect(imbalance(released)).toBe(0n);
      const kept = after([...seized, ...keptPostings('p', what)]);
      expect(kept).toEqual(
        new Map<string, bigint>([
          [`float:${what.network}`, what.amount],
          [`kept:${what.network}`, what.amount],
        ]),
      );
      const freed = after([
        ...arrivalPostings('p', { ...what, kind: 'counted' }, false),
        ...releaseHeldPostings('p', what),
      ]);
      expect(freed).toEqual(after(arrivalPostings('p', { ...what, kind: 'counted' }, true)));
    }),
  );
});
