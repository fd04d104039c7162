import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TokenAccountTable } from '../../../packages/server/src/chains/solana/account-table.ts';
import { tokenAccountsOf } from '../../../packages/server/src/chains/solana/derive-accounts.ts';
import { MarkTable } from '../../../packages/server/src/chains/solana/mark-table.ts';
import { type Mark, NO_MARK } from '../../../packages/server/src/chains/solana/marks.ts';
import { connect, type Db } from '../../../packages/server/src/platform/db/db.ts';
import { newId } from '../../../packages/server/src/platform/db/ids/ids.ts';
import { solanaAddressOf, tokenAccountOf } from '../../../packages/signer/src/solana/address.ts';
import { createDatabase } from '../../database.ts';

let database: Awaited<ReturnType<typeof createDatabase>>;
let db: Db;
beforeAll(async () => {
  database = await createDatabase();
  db = connect({ url: database.url, poolSize: 8 });
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

const mark = (amount: bigint, other: Partial<Mark> = {}): Mark => ({
  ...NO_MARK,
  amount,
  since: amount,
  reportedAt: amount + 1n,
  previous: { amount: 0n, since: -1n },
  ...other,
});
const NONE = new Map<string, Mark>();

test('marks are found as they were saved, by their merchant alone', async () => {
  const [own, other] = [new MarkTable(db, newId()), new MarkTable(db, newId())];
  const saved = new Map([
    ['a', mark(2n ** 63n - 1n, { lateFrom: -1n, leavingSince: 8n, reportedAt: 9n })],
    ['b', mark(0n)],
  ]);
  await own.save(saved, NONE);
  expect(await own.find(['a', 'b', 'c'])).toEqual(saved);
  expect(await own.find(['b'])).toEqual(new Map([['b', mark(0n)]]));
  expect(await other.find(['a', 'b'])).toEqual(NONE);
  await other.noteLeaving(['b'], 7n);
  expect((await own.find(['b'])).get('b')?.leavingSince).toBeNull();
  await own.save(NONE, NONE);
  await own.save(new Map([['a', mark(5n)]]), saved);
  expect(await own.find(['a'])).toEqual(new Map([['a', mark(5n)]]));
});

test('a sweep that is noted while a scan reads stays noted; one that the scan has seen leave does not', async () => {
  const table = new MarkTable(db, newId());
  await table.save(new Map([['a', mark(1n)]]), NONE);
  const before = await table.find(['a']);
  // Also of an account that no scan has found anything in.
  await table.noteLeaving(['a', 'unknown'], 7n);
  await table.save(new Map([['a', mark(2n)]]), before);
  const noted = await table.find(['a', 'unknown']);
  expect(noted).toEqual(
    new Map([
      ['a', mark(2n, { leavingSince: 7n })],
      ['unknown', { ...NO_MARK, leavingSince: 7n }],
    ]),
  );
  // A later one is noted while a scan reads that the first one has left; a node that lags notes no earlier one.
  await table.noteLeaving(['a'], 9n);
  await table.noteLeaving(['a'], 8n);
  await table.save(new Map([['a', mark(3n)]]), noted);
  const later = await table.find(['a']);
  expect(later.get('a')?.leavingSince).toBe(9n);
  await table.save(new Map([['a', mark(3n)]]), later);
  expect((await table.find(['a'])).get('a')?.leavingSince).toBeNull();
});

test('two processes that save the same accounts at once leave a mark of either', async () => {
  const merchantId = newId();
  const accounts = Array.from({ length: 200 }, (_, i) => `account ${i}`);
  const marksOf = (amount: bigint, list: readonly string[]) =>
    new Map(list.map((one) => [one, mark(amount)]));
  const reversed = accounts.toReversed();
  await Promise.all(
    [1n, 2n, 3n, 4n].map((amount) =>
      new MarkTable(db, merchantId).save(marksOf(amount, amount % 2n === 0n ? accounts : reversed), NONE),
    ),
  );
  const found = await new MarkTable(db, merchantId).find(accounts);
  expect(found.size).toBe(accounts.length);
  for (const one of found.values()) expect([1n, 2n, 3n, 4n]).toContain(one.amount);
});

const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const ownersOf = (name: string, count: number) =>
  Array.from({ length: count }, (_, i) =>
    solanaAddressOf(Uint8Array.from(createHash('sha256').update(`${name} ${i}`).digest())),
  );

test('token accounts of watched addresses are derived once, for all processes, and a few in one turn', async () => {
  const merchantId = newId();
  const table = new TokenAccountTable(db, merchantId);
  const owners = ownersOf('a watched address', 400);
  let turns = 0;
  let isDeriving = true;
  const takeTurns = async () => {
    while (isDeriving) {
      turns += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const turning = takeTurns();
  const first = await tokenAccountsOf(table, { owners, mint: MINT, save: true });
  isDeriving = false;
  await turning;
  expect(turns).toBeGreaterThanOrEqual(400 / 20 - 1);
  expect(first).toEqual(new Map(owners.map((owner) => [owner, tokenAccountOf(owner, MINT)])));
  expect(await new TokenAccountTable(db, merchantId).find(owners, MINT)).toEqual(first);
  // What is stored is taken: nothing is derived of it again.
  const [one = ''] = owners;
  const planted = new Map([[one, 'as it was stored']]);
  const another = new TokenAccountTable(db, newId());
  await another.save(planted, MINT);
  await another.save(new Map([[one, 'by another process']]), MINT);
  expect((await tokenAccountsOf(another, { owners, mint: MINT, save: false })).get(one)).toBe(
    'as it was stored',
  );
  expect(await another.find(owners, MINT)).toEqual(planted);
  expect(await another.find(owners, one)).toEqual(new Map());
});

test('two processes that derive the same token accounts at once both have them', async () => {
  const merchantId = newId();
  const owners = ownersOf('an address of two processes', 60);
  const both = await Promise.all(
    [owners, owners.toReversed()].map((list) =>
      tokenAccountsOf(new TokenAccountTable(db, merchantId), { owners: list, mint: MINT, save: true }),
    ),
  );
  expect(both[0]).toEqual(both[1]);
});
