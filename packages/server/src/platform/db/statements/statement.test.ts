import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../../../../../test/database.ts';
import { connect, type Db } from '../db.ts';
import { prepared } from './statement.ts';

let database: Awaited<ReturnType<typeof createDatabase>>;
let db: Db;
beforeAll(async () => {
  database = await createDatabase();
  db = connect({ url: database.url, poolSize: 1 });
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

const planned = async () => {
  const { rows } = await sql<{ statement: string; uses: number }>`
    select statement, (generic_plans + custom_plans)::int as uses from pg_prepared_statements`.execute(db);
  return rows;
};

test('a prepared statement is planned by its connection once, others are not prepared', async () => {
  for (const n of [1, 2, 3]) {
    const { rows } = await prepared<{ n: number }>`select ${n}::int as n`.execute(db);
    expect(rows).toEqual([{ n }]);
    await sql`select ${n}::int as n`.execute(db);
  }
  expect(await planned()).toEqual([{ statement: 'select $1::int as n', uses: 3 }]);
});

test('a prepared statement that fails leaves its connection usable', async () => {
  const divide = async (by: number) =>
    (await prepared<{ n: number }>`select 10 / ${by}::int as n`.execute(db)).rows[0]?.n;
  expect(await divide(5)).toBe(2);
  await expect(divide(0)).rejects.toThrow('division by zero');
  expect(await divide(2)).toBe(5);
});

test('a statement that the server cannot parse is prepared as soon as it can', async () => {
  const count = () => prepared<{ n: number }>`select count(*)::int as n from later`.execute(db);
  await expect(count()).rejects.toMatchObject({ code: '42P01' });
  await sql`create table later (id int)`.execute(db);
  expect((await count()).rows).toEqual([{ n: 0 }]);
  // A plan that no longer fits its table fails once.
  await sql`alter table later add column more text`.execute(db);
  const all = () => prepared`select * from later`.execute(db);
  await all();
  await sql`alter table later drop column more`.execute(db);
  await expect(all()).rejects.toMatchObject({ code: '0A000' });
  expect((await all()).rows).toEqual([]);
});
