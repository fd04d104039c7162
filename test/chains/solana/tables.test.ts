import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pinChains } from '../../../packages/server/src/chains/pinned/index.ts';
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
    ['a', mark(2n ** 63n - 1n, { lateFrom: -1n, leavingSince: 8n, reportedAt: 9n, sweptBy: newId() })],
    ['b', mark(0n)],
  ]);
  await own.save(saved, NONE);
  expect(await own.find(['a', 'b', 'c'])).toEqual(saved);
  expect(await own.find(['b'])).toEqual(new Map([['b', mark(0n)]]));
  expect(await other.find(['a', 'b'])).toEqual(NONE);
  await other.noteLeaving(['b'], { slot: 7n, by: newId() });
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
  const [first, second] = [newId(), newId()];
  expect(await table.noteLeaving(['a', 'unknown'], { slot: 7n, by: first })).toEqual(
    new Set(['a', 'unknown']),
  );
  await table.save(new Map([['a', mark(2n)]]), before);
  const noted = await table.find(['a', 'unknown']);
  expect(noted).toEqual(
    new Map([
      ['a', mark(2n, { leavingSince: 7n, sweptBy: first })],
      ['unknown', { ...NO_MARK, leavingSince: 7n, sweptBy: first }],
    ]),
  );
  // A later one is noted while a scan reads that the first one has left; a node that lags notes no earlier one.
  expect(await table.noteLeaving(['a'], { slot: 9n, by: second })).toEqual(new Set());
  expect(await table.noteLeaving(['a'], { slot: 8n, by: first })).toEqual(new Set(['a']));
  await table.save(new Map([['a', mark(3n)]]), noted);
  const later = await table.find(['a']);
  expect(later.get('a')).toMatchObject({ leavingSince: 9n, sweptBy: first });
  await table.save(new Map([['a', mark(3n)]]), later);
  expect((await table.find(['a'])).get('a')).toMatchObject({ leavingSince: null, sweptBy: null });
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

test('the owners of what was reported behind a cursor are found, of their merchant alone', async () => {
  const merchantId = newId();
  const marks = new MarkTable(db, merchantId);
  const owners = ownersOf('an address that was reported', 3);
  const accounts = await tokenAccountsOf(new TokenAccountTable(db, merchantId), {
    owners,
    mint: MINT,
    save: true,
  });
  const saved = [...accounts.values()].map((account, place) => [account, mark(BigInt(place))] as const);
  await marks.save(new Map(saved), NONE);
  expect((await marks.reportedBehind(1n)).toSorted()).toEqual(owners.slice(1).toSorted());
  expect(await marks.reportedBehind(3n)).toEqual([]);
  expect(await new MarkTable(db, newId()).reportedBehind(-1n)).toEqual([]);
});

test('a database with accounts on one chain is opened for no other, and for none whose coins have another worth', async () => {
  const network = { chainId: 1, genesisHash: '0xd4', isTest: true };
  const solana = { genesisHash: 'devnet', isTest: true };
  await pinChains(db, { network, solana: { ...solana, genesisHash: 'another one' } });
  // Nobody has an account yet.
  await pinChains(db, { network, solana });
  const at = { extended_public_key: null, begins_at: null, cold_owner: null, created_at: 1 };
  await db
    .insertInto('chain_account')
    .values([
      { network: 'spl', account: 0, merchant_id: newId(), ...at },
      { network: 'erc20', account: 0, merchant_id: newId(), ...at },
    ])
    .execute();
  await Promise.all([pinChains(db, { network, solana }), pinChains(db, { network })]);
  for (const other of [{ genesisHash: 'mainnet' }, { isTest: false }])
    await expect(pinChains(db, { network, solana: { ...solana, ...other } })).rejects.toThrow(
      'another chain of spl',
    );
  await expect(pinChains(db, { network: { ...network, chainId: 5 }, solana })).rejects.toThrow(
    'Use a new database',
  );
  await pinChains(db, { network, solana });
});
