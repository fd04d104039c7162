import fc from 'fast-check';
import { type RawBuilder, sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../../../../test/database.ts';
import { connect, type Db } from './db.ts';

let database: Awaited<ReturnType<typeof createDatabase>>;
let db: Db;
beforeAll(async () => {
  database = await createDatabase();
  db = connect({ url: database.url, poolSize: 2 });
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

const read = async (value: RawBuilder<unknown>) =>
  (await sql<{ read: unknown }>`select ${value} as read`.execute(db)).rows[0]?.read;

test('PostgreSQL reads back every text that it can hold', async () => {
  const text = fc.string({ unit: 'binary' }).map((value) => value.replaceAll('\0', ''));
  const special = fc.constantFrom('NULL', 'null', '', '{}', ',', '"', '\\', ' a ', '\n', "'");
  await fc.assert(
    fc.asyncProperty(fc.array(fc.option(fc.oneof(text, special))), async (values) => {
      expect(await read(sql`${values}::text[]`)).toEqual(values);
      for (const value of values.slice(0, 1)) expect(await read(sql`${value}::text`)).toBe(value);
    }),
    { numRuns: 100 },
  );
});

test.each([
  ['integers', sql`${[1, -2]}::int[]`, [1, -2]],
  ['money', sql`${[9_007_199_254_740_993n, null]}::bigint[]`, [9_007_199_254_740_993n, null]],
  ['booleans', sql`${[true, false]}::boolean[]`, [true, false]],
  ['no elements', sql`${[]}::text[]`, []],
  ['what is undefined', sql`${[undefined, 'a']}::text[]`, [null, 'a']],
  [
    'arrays',
    sql`${[['a', '{'], ['b', null]]}::text[]`,
    [
      ['a', '{'],
      ['b', null],
    ],
  ],
  ['bytes', sql`${[Buffer.from([0, 92, 255])]}::bytea[]`, [Buffer.from([0, 92, 255])]],
  ['objects', sql`${[{ a: '"' }]}::jsonb[]`, [{ a: '"' }]],
])('an array of %s', async (_, value, expected) => {
  const found = await read(value);
  expect(
    Array.isArray(found) && typeof expected[0] === 'bigint' ? found.map((n) => n && BigInt(n)) : found,
  ).toEqual(expected);
});

test.each([
  ['a number', sql`${1.5}::float8`, 1.5],
  ['an amount', sql`${2n ** 62n}::bigint`, 2n ** 62n],
  ['bytes', sql`${new Uint8Array([1, 2, 3]).subarray(1)}::bytea`, Buffer.from([2, 3])],
  ['an object', sql`${{ a: [1] }}::jsonb`, { a: [1] }],
  ['a time', sql`${new Date(1_700_000_000_123)}::timestamptz`, new Date(1_700_000_000_123)],
  ['undefined', sql`${undefined}::text`, null],
])('%s', async (_, value, expected) => {
  expect(await read(value)).toEqual(expected);
});
