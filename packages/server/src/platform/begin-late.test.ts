import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../../../test/database.ts';
import { connect, type Db } from './db.ts';
import { transact } from './transact.ts';

let database: Awaited<ReturnType<typeof createDatabase>>;
let db: Db;
let watcher: Db;
beforeAll(async () => {
  database = await createDatabase();
  db = connect({ url: database.url, poolSize: 1 });
  watcher = connect({ url: database.url, poolSize: 1 });
  await sql`create table note (text text primary key)`.execute(db);
});
afterAll(async () => {
  await Promise.all([db.destroy(), watcher.destroy()]);
  await database.drop();
});

const write = (on: Db, text: string) => sql`insert into note values (${text})`.execute(on);
const read = async (on: Db) =>
  (await sql<{ text: string }>`select text from note order by text`.execute(on)).rows.map((row) => row.text);

test('the first statement is inside the transaction: unseen by others until the commit', async () => {
  await transact(db, async (tx) => {
    await write(tx, 'a');
    expect(await read(watcher)).toEqual([]);
  });
  expect(await read(watcher)).toEqual(['a']);
});

test('a throw after the first statement takes it back', async () => {
  const refused = transact(db, async (tx) => {
    await write(tx, 'b');
    throw new Error('refused');
  });
  await expect(refused).rejects.toThrow('refused');
  expect(await read(watcher)).toEqual(['a']);
});

test('a first statement that fails fails alone, and its connection serves on', async () => {
  await expect(transact(db, (tx) => write(tx, 'a'))).rejects.toThrow('duplicate key');
  await transact(db, (tx) => write(tx, 'c'));
  expect(await read(watcher)).toEqual(['a', 'c']);
});

test('a transaction that does nothing ends, and the next statement stands by itself', async () => {
  await transact(db, async () => {});
  await expect(transact(db, () => Promise.reject(new Error('early')))).rejects.toThrow('early');
  await write(db, 'd');
  expect(await read(watcher)).toEqual(['a', 'c', 'd']);
});
