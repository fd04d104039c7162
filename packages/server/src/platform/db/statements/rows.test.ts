import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createDatabase } from '../../../../../../test/database.ts';
import { connect, type Db } from '../db.ts';
import { newId } from '../ids/ids.ts';
import { transact } from '../transact.ts';
import { columnsOf, insertRows, updateRows } from './rows.ts';

declare module '../db.ts' {
  interface Tables {
    row_note: {
      merchant_id: string;
      note_id: string;
      line: number;
      body: string | null;
      amount: bigint | number;
      is_read: boolean;
      content: { tags: string[] } | null;
    };
  }
}

const NOTE = columnsOf('row_note', {
  merchant_id: 'uuid',
  note_id: 'uuid',
  line: 'integer',
  body: 'text',
  amount: 'bigint',
  is_read: 'boolean',
  content: 'jsonb',
});
const [MERCHANT, OTHER] = [newId(), newId()];

let database: Awaited<ReturnType<typeof createDatabase>>;
let db: Db;
beforeAll(async () => {
  database = await createDatabase();
  db = connect({ url: database.url, poolSize: 2 });
  await sql`create table row_note (
    merchant_id uuid, note_id uuid, line integer, body text, amount bigint, is_read boolean, content jsonb,
    primary key (merchant_id, note_id, line))`.execute(db);
});
beforeEach(async () => void (await sql`truncate row_note`.execute(db)));
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

const notes = (n: number, merchantId = MERCHANT) =>
  Array.from({ length: n }, (_, i) => ({
    merchant_id: merchantId,
    note_id: newId(),
    line: i,
    body: i % 2 === 0 ? null : `"quoted", {braces}, \\ and é ${i}`,
    amount: 2n ** 62n + BigInt(i),
    is_read: i % 2 === 0,
    content: i % 3 === 0 ? null : { tags: ['a', `b${i}`] },
  }));
const all = async () => await db.selectFrom('row_note').selectAll().orderBy('note_id').execute();

test('rows are inserted as they are read, one or many', async () => {
  const rows = notes(7);
  await transact(db, (tx) => insertRows(tx, NOTE, rows.slice(0, 1)));
  await transact(db, (tx) => insertRows(tx, NOTE, rows.slice(1)));
  expect(await all()).toEqual(rows);
});

test('rows are changed where their keys meet, of their merchant alone', async () => {
  const rows = notes(4);
  const same = rows.map((row) => ({ ...row, merchant_id: OTHER }));
  await transact(db, (tx) => insertRows(tx, NOTE, rows));
  await transact(db, (tx) => insertRows(tx, NOTE, same));
  const changes = rows.slice(1).map(({ merchant_id, note_id, line }) => ({
    merchant_id,
    note_id,
    line,
    body: line === 1 ? null : `now ${line}`,
    content: { tags: [] },
  }));
  await transact(db, (tx) => updateRows(tx, NOTE, changes, ['note_id', 'line']));
  const changed = rows.map((row, i) => ({ ...row, ...(i === 0 ? {} : changes[i - 1]) }));
  const found = await all();
  expect(found.filter((row) => row.merchant_id === MERCHANT)).toEqual(changed);
  expect(found.filter((row) => row.merchant_id === OTHER)).toEqual(same);
});

test('no rows are no statement', async () => {
  await transact(db, async (tx) => {
    await insertRows(tx, NOTE, []);
    await updateRows(tx, NOTE, [], ['note_id']);
  });
  expect(await all()).toEqual([]);
});

test('a row that is there already fails the transaction, at its next statement', async () => {
  const rows = notes(2);
  await transact(db, (tx) => insertRows(tx, NOTE, rows));
  const again = transact(db, async (tx) => {
    await insertRows(tx, NOTE, [...notes(1), ...rows]);
  });
  await expect(again).rejects.toThrow('row_note_pkey');
  expect(await all()).toHaveLength(2);
});

test('rows of several merchants, and rows that lack a column, are refused', async () => {
  const [row] = notes(1);
  if (row === undefined) throw new Error('there is one');
  const mixed = transact(db, (tx) => insertRows(tx, NOTE, [row, { ...row, merchant_id: OTHER }]));
  await expect(mixed).rejects.toThrow('belong to one merchant');
  const { merchant_id, note_id } = row;
  const changes = [
    { merchant_id, note_id, body: 'all name it' },
    { merchant_id, note_id: newId() },
  ];
  await expect(transact(db, (tx) => updateRows(tx, NOTE, changes, ['note_id']))).rejects.toThrow(
    'a row of row_note names no body',
  );
  const unknown = { merchant_id, note_id, mood: 'good' };
  await expect(transact(db, (tx) => updateRows(tx, NOTE, [unknown], ['note_id']))).rejects.toThrow(
    'row_note has no column mood',
  );
});

test('columns are listed as they are named; what is missing, or cannot hold its values, does not compile', () => {
  expect(Object.keys(NOTE.types)).toHaveLength(7);
  const types = { merchant_id: 'uuid', note_id: 'uuid', line: 'integer', amount: 'bigint' } as const;
  // @ts-expect-error: three are missing
  columnsOf('row_note', types);
  // @ts-expect-error: a text is no number
  columnsOf('row_note', { ...types, body: 'integer', is_read: 'boolean', content: 'jsonb' });
  // @ts-expect-error: a boolean is no object
  columnsOf('row_note', { ...types, body: 'text', is_read: 'jsonb', content: 'jsonb' });
});
