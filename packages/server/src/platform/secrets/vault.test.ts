import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDatabase } from '../../../../../test/database.ts';
import { connect, type Db } from '../db/db.ts';
import { Vault, WrongMasterKey } from './vault.ts';

const SECRET = Buffer.from('fls_test_secret');
const master = randomBytes(32);

let db: Db;
let other: Db;
let drop: () => Promise<void>;

beforeEach(async () => {
  const database = await createDatabase();
  db = connect({ url: database.url, poolSize: 4 });
  other = connect({ url: database.url, poolSize: 4 });
  drop = () => database.drop();
});
afterEach(async () => {
  await Promise.all([db.destroy(), other.destroy()]);
  await drop();
});

function opens(vault: Vault, sealed: Buffer, context: string): boolean {
  try {
    vault.open(sealed, context);
    return true;
  } catch {
    return false;
  }
}

test('what was sealed opens again, also after a restart, and never has the same bytes twice', async () => {
  const vault = await Vault.unlock(db, master, 1);
  const sealed = [vault.seal(SECRET, 'a'), vault.seal(SECRET, 'a')];
  expect(sealed[0]).not.toEqual(sealed[1]);
  const again = await Vault.unlock(db, master, 2);
  for (const one of sealed) expect(again.open(one, 'a')).toEqual(SECRET);
  expect(Buffer.concat(sealed).includes(SECRET)).toBe(false);
});

test('G1: a sealed value that was moved to another row does not open', async () => {
  const vault = await Vault.unlock(db, master, 1);
  const [a, b] = [vault.seal(SECRET, 'merchant a'), vault.seal(SECRET, 'merchant b')];
  expect(opens(vault, a, 'merchant b')).toBe(false);
  expect(opens(vault, b, 'merchant a')).toBe(false);
  expect(vault.open(a, 'merchant a')).toEqual(SECRET);
});

test('fault 83: every single changed byte is noticed', async () => {
  const vault = await Vault.unlock(db, master, 1);
  const sealed = vault.seal(SECRET, 'a');
  for (let place = 0; place < sealed.length; place++) {
    const tampered = Buffer.from(sealed);
    tampered[place] = (tampered[place] ?? 0) ^ 1;
    expect([place, opens(vault, tampered, 'a')]).toEqual([place, false]);
  }
  for (const length of [0, 15, 16, 28, sealed.length - 1]) {
    expect([length, opens(vault, sealed.subarray(0, length), 'a')]).toEqual([length, false]);
  }
});

test('another master key is refused, and leaves the data keys unchanged', async () => {
  const vault = await Vault.unlock(db, master, 1);
  const sealed = vault.seal(SECRET, 'a');
  await expect(Vault.unlock(db, randomBytes(32), 2)).rejects.toBeInstanceOf(WrongMasterKey);
  expect((await Vault.unlock(db, master, 3)).open(sealed, 'a')).toEqual(SECRET);
});

test('the master key and the data key are nowhere in the database', async () => {
  await Vault.unlock(db, master, 1);
  const [row, ...others] = await db.selectFrom('data_key').selectAll().execute();
  expect(others).toEqual([]);
  expect(row?.wrapped.includes(master)).toBe(false);
  expect(row?.wrapped.length).toBe(12 + 32 + 16);
});

test('fault 16: nodes that unlock an empty database at once open each other’s secrets', async () => {
  const vaults = await Promise.all(
    Array.from({ length: 8 }, (_, node) => Vault.unlock(node % 2 === 0 ? db : other, master, node)),
  );
  for (const [node, vault] of vaults.entries()) {
    const sealed = vault.seal(SECRET, `node ${node}`);
    for (const reader of vaults) expect(reader.open(sealed, `node ${node}`)).toEqual(SECRET);
  }
});
