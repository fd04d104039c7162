import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../../../../test/database.ts';
import { arrayText } from './array-text.ts';
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

test('PostgreSQL reads back every text that it can hold', async () => {
  const text = fc.string({ unit: 'binary' }).map((value) => value.replaceAll('\0', ''));
  const special = fc.constantFrom('NULL', 'null', '', '{}', ',', '"', '\\', ' a ', '\n', "'");
  await fc.assert(
    fc.asyncProperty(fc.array(fc.option(fc.oneof(text, special))), async (values) => {
      const { rows } = await sql<{ read: (string | null)[] }>`
        select ${arrayText(values)}::text[] as read`.execute(db);
      expect(rows[0]?.read).toEqual(values);
    }),
    { numRuns: 100 },
  );
});

test('numbers and money are written as they are', () => {
  expect(arrayText([1, -2, 9_007_199_254_740_993n])).toBe('{1,-2,9007199254740993}');
  expect(arrayText([])).toBe('{}');
});
