import { ASSETS, type Asset, NETWORKS } from '@florin/contract/money';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../../../test/database.ts';
import { scaled } from '../../../../test/scale.ts';
import { newId } from '../platform/db/ids/index.ts';
import { connect, type Db, transact } from '../platform/db/index.ts';
import { type Account, ALL_ACCOUNTS, debitSign, imbalance, mayOverdraw } from './accounts.ts';
import { readBalances, recomputeBalances } from './balances/queries.ts';
import { BelowFloor, changesOf, type Posting, post } from './post.ts';

let db: Db;
let drop: () => Promise<void>;

beforeAll(async () => {
  const database = await createDatabase();
  db = connect({ url: database.url, poolSize: 10 });
  drop = () => database.drop();
});
afterAll(async () => {
  await db.destroy();
  await drop();
});

const posting = (debit: Account, credit: Account, amount: bigint, currency: Asset = 'USDT'): Posting => ({
  debit,
  credit,
  amount,
  currency,
  network: null,
  cause: { type: 'fund', id: newId() },
});
const book = (merchantId: string, ...postings: Posting[]) =>
  transact(db, (tx) => post(tx, merchantId, postings, 1_770_000_000));

async function balancesOf(merchantId: string): Promise<Record<string, bigint>> {
  const flat = [...(await readBalances(db, merchantId))].flatMap(([currency, accounts]) =>
    [...accounts].map(([account, balance]) => [`${account} ${currency}`, balance] as const),
  );
  return Object.fromEntries(flat.filter(([, balance]) => balance !== 0n));
}
async function expectWhole(merchantId: string): Promise<void> {
  const stored = await balancesOf(merchantId);
  const recomputed = [...(await recomputeBalances(db, merchantId))].flatMap(([currency, accounts]) =>
    [...accounts].map(([account, balance]) => [`${account} ${currency}`, balance] as const),
  );
  expect(Object.fromEntries(recomputed.filter(([, balance]) => balance !== 0n))).toEqual(stored);
}

const account = fc.constantFrom(...ALL_ACCOUNTS);
const anyPosting = fc
  .tuple(account, account, fc.bigInt(1n, 1_000n), fc.constantFrom(...ASSETS))
  .filter(([debit, credit]) => debit !== credit)
  .map(([debit, credit, amount, currency]) => posting(debit, credit, amount, currency));
const journal = fc.array(anyPosting, { minLength: 1, maxLength: 6 });

test('H1: a journal sums to zero per asset for any postings', () => {
  fc.assert(
    fc.property(fc.array(anyPosting, { maxLength: 200, size: 'max' }), (postings) => {
      for (const currency of ASSETS) {
        const changes = changesOf(postings).filter((change) => change.currency === currency);
        const sum = changes.reduce((total, { account: a, delta }) => total + debitSign(a) * delta, 0n);
        expect(sum).toBe(0n);
      }
    }),
    { numRuns: 50 },
  );
});

test('accounts are locked in one order, each once', () => {
  fc.assert(
    fc.property(journal, (postings) => {
      const order = changesOf(postings).map((change) => `${change.account} ${change.currency}`);
      expect(order).toEqual([...new Set(order)].sort());
    }),
  );
});

test('H1: after random journals no account is below its floor, and balances are the sums of their rows', async () => {
  const property = fc.asyncProperty(
    fc.array(journal, { minLength: 5, maxLength: 30, size: 'max' }),
    async (journals) => {
      const merchantId = newId();
      for (const postings of journals) {
        const before = await balancesOf(merchantId);
        const refused = await book(merchantId, ...postings).catch((error: unknown) => error);
        if (refused === undefined) continue;
        expect(refused).toBeInstanceOf(BelowFloor);
        expect(await balancesOf(merchantId)).toEqual(before);
      }
      await expectWhole(merchantId);
      for (const [name, balance] of Object.entries(await balancesOf(merchantId))) {
        if (!name.startsWith('float')) expect([name, balance >= 0n]).toEqual([name, true]);
      }
    },
  );
  await fc.assert(property, { numRuns: scaled(500, 5), endOnFailure: true });
});

test('H1: concurrent journals between two accounts in both directions do not deadlock, and nothing is lost', async () => {
  const merchantId = newId();
  await book(merchantId, posting('custody:erc20', 'available', 1_000n));
  await book(merchantId, posting('custody:erc20', 'held', 1_000n));
  const moves = Array.from({ length: scaled(2_000, 60) }, (_, i) =>
    i % 2 === 0
      ? book(merchantId, posting('available', 'held', 7n), posting('custody_hold:erc20', 'custody:erc20', 3n))
      : book(
          merchantId,
          posting('held', 'available', 7n),
          posting('custody_hold:erc20', 'custody:erc20', 3n),
        ),
  );
  const refused = (await Promise.allSettled(moves)).flatMap((r) =>
    r.status === 'rejected' ? [r.reason] : [],
  );
  expect(refused.filter((error) => !(error instanceof BelowFloor))).toEqual([]);
  await expectWhole(merchantId);
  const usdt = (await readBalances(db, merchantId)).get('USDT') ?? new Map<Account, bigint>();
  expect(imbalance(usdt)).toBe(0n);
});

test('H2: of many concurrent debits of 60 % exactly one is booked', async () => {
  const merchantId = newId();
  await book(merchantId, posting('custody:erc20', 'available', 1_000n));
  const debits = Array.from({ length: scaled(500, 20) }, () =>
    book(merchantId, posting('available', 'payout_hold', 600n)),
  );
  const outcomes = await Promise.allSettled(debits);
  expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBe(1);
  expect(await balancesOf(merchantId)).toEqual({
    'available USDT': 400n,
    'custody:erc20 USDT': 1_000n,
    'payout_hold USDT': 600n,
  });
});

test('the first account that does not cover it is named, in the order of the accounts', async () => {
  const merchantId = newId();
  const both = [
    posting('available', 'payout_hold', 1n),
    posting('custody_hold:erc20', 'custody:erc20', 1n),
  ] as const;
  await expect(book(merchantId, ...both)).rejects.toMatchObject({ account: 'available' });
  await book(merchantId, posting('custody:spl', 'available', 1n));
  await expect(book(merchantId, ...both)).rejects.toMatchObject({ account: 'custody:erc20' });
  expect(await balancesOf(merchantId)).toEqual({ 'available USDT': 1n, 'custody:spl USDT': 1n });
});

test('no amount of zero or less, and no account against itself, is booked', async () => {
  for (const wrong of [
    posting('available', 'held', 0n),
    posting('available', 'held', -1n),
    posting('available', 'available', 1n),
  ]) {
    await expect(book(newId(), wrong)).rejects.toThrow('invariant broken');
  }
});

test('the table itself refuses a balance below its floor and an amount of zero', async () => {
  const merchantId = newId();
  await book(merchantId, posting('custody:erc20', 'available', 5n));
  const change = sql`update ledger_account set balance = -1 where merchant_id = ${merchantId}`.execute(db);
  await expect(change).rejects.toMatchObject({ code: '23514' });
  const add =
    sql`insert into ledger_entry select merchant_id, ${newId()}, journal_id, debit, credit, currency, network,
    0, cause_type, cause_id, created_at from ledger_entry where merchant_id = ${merchantId}`.execute(db);
  await expect(add).rejects.toMatchObject({ code: '23514' });
});

test('only the operator’s float may be below zero', async () => {
  expect(ALL_ACCOUNTS.filter(mayOverdraw)).toEqual(NETWORKS.map((network) => `float:${network}`));
  const merchantId = newId();
  await book(merchantId, posting('reorg_loss:erc20', 'float:erc20', 5n));
  expect(await balancesOf(merchantId)).toEqual({ 'float:erc20 USDT': -5n, 'reorg_loss:erc20 USDT': 5n });
  await expectWhole(merchantId);
});

test('rows of one change share a journal, and merchants do not see each other', async () => {
  const [one, other] = [newId(), newId()];
  await book(one, posting('custody:erc20', 'available', 5n), posting('available', 'fees', 1n));
  await book(one, posting('custody:erc20', 'available', 5n));
  const rows = await db.selectFrom('ledger_entry').selectAll().where('merchant_id', '=', one).execute();
  expect(rows.length).toBe(3);
  expect(new Set(rows.map((row) => row.journal_id)).size).toBe(2);
  expect(new Set(rows.map((row) => row.entry_id)).size).toBe(3);
  expect(await balancesOf(other)).toEqual({});
});
