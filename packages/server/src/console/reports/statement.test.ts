import { ASSETS, type Asset, NETWORKS } from '@florin/contract/money';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Account, debitSign, isOperatorAccount } from '../../ledger/index.ts';
import { type AccountStatement, type Flow, statementsOf } from './statement.ts';

const ACCOUNTS: readonly Account[] = [
  'available',
  'held',
  'seized',
  'payout_hold',
  'fees',
  'custody:erc20',
  'custody_hold:spl',
  'float:erc20',
];

/** An entry before, in or behind the period. */
const entry = fc
  .record({
    when: fc.constantFrom('before' as const, 'within' as const, 'after' as const),
    sides: fc.shuffledSubarray([...ACCOUNTS], { minLength: 2, maxLength: 2 }),
    currency: fc.constantFrom(...ASSETS),
    network: fc.option(fc.constantFrom(...NETWORKS), { nil: null }),
    causeType: fc.constantFrom('payment', 'refund', 'payout_batch', 'payout_item', 'fund', 'fill', 'surplus'),
    isOfInvoice: fc.boolean(),
    amount: fc.bigInt(1n, 10n ** 15n),
  })
  .map(({ sides: [debit = 'held', credit = 'available'], ...rest }) => ({ ...rest, debit, credit }));

type Entry = Omit<Flow, 'isWithin' | 'entries'> & { when: 'before' | 'within' | 'after' };

/** What an account holds by these entries, added one by one. */
const heldBy = (entries: readonly Entry[], account: Account, currency: Asset): bigint =>
  entries
    .filter((one) => one.currency === currency)
    .reduce((sum, { debit, credit, amount }) => {
      const sign = debitSign(account);
      return sum + (debit === account ? sign * amount : 0n) - (credit === account ? sign * amount : 0n);
    }, 0n);

const statementOf = (entries: readonly Entry[]): AccountStatement[] => {
  const balances = new Map(
    ASSETS.map((currency) => [
      currency,
      new Map(ACCOUNTS.map((account) => [account, heldBy(entries, account, currency)])),
    ]),
  );
  const flows = entries.flatMap(({ when, ...rest }) =>
    when === 'before' ? [] : { ...rest, isWithin: when === 'within', entries: 1 },
  );
  return statementsOf(balances, flows);
};

test('an account opens with the entries before the period, closes with those up to its end, and its movements lead from one to the other', () => {
  const check = (entries: Entry[]) => {
    const statements = statementOf(entries);
    const before = entries.filter(({ when }) => when === 'before');
    const upToEnd = entries.filter(({ when }) => when !== 'after');
    for (const currency of ASSETS)
      for (const account of ACCOUNTS) {
        const found = statements.filter((one) => one.account === account && one.currency === currency);
        const moved = entries.filter(
          (one) =>
            one.when === 'within' &&
            one.currency === currency &&
            (one.debit === account || one.credit === account),
        );
        const closing = heldBy(upToEnd, account, currency);
        const isListed = !isOperatorAccount(account) && (moved.length > 0 || closing !== 0n);
        expect(found).toHaveLength(isListed ? 1 : 0);
        for (const { opening, movements, closing: last } of found) {
          const change = movements.reduce((sum, { increase, decrease }) => sum + increase - decrease, 0n);
          expect([opening, last]).toEqual([heldBy(before, account, currency), closing]);
          expect(opening + change).toBe(last);
          expect(movements.every(({ increase, decrease }) => increase >= 0n && decrease >= 0n)).toBe(true);
          expect(movements.reduce((sum, one) => sum + one.entries, 0)).toBe(moved.length);
        }
      }
  };
  fc.assert(fc.property(fc.array(entry, { maxLength: 60 }), check));
});

test('fees, seizures and payments of invoices are kinds of their own', () => {
  const moved = (debit: Account, credit: Account, causeType: string, isOfInvoice = false) => ({
    debit,
    credit,
    currency: 'USDT' as const,
    network: 'erc20' as const,
    causeType,
    isOfInvoice,
    amount: 1n,
    when: 'within' as const,
  });
  const kinds = statementOf([
    moved('custody:erc20', 'available', 'payment'),
    moved('custody:erc20', 'available', 'payment', true),
    moved('custody:erc20', 'seized', 'payment', true),
    moved('payout_hold', 'fees', 'payout_item'),
    moved('payout_hold', 'custody:erc20', 'payout_item'),
    moved('custody:erc20', 'available', 'surplus'),
  ]).map(({ account, movements }) => `${account}: ${movements.map(({ kind }) => kind).join()}`);
  expect(kinds).toEqual([
    'available: payment,subscription,correction',
    'seized: seizure',
    'payout_hold: payout,fee',
    'fees: fee',
    'custody:erc20: payment,subscription,seizure,payout,correction',
  ]);
});
