import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../../../../test/database.ts';
import { connect, type Db } from './db.ts';
import { kept } from './kept-plans.ts';

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

test('a kept statement is planned by its connection once, others are not kept', async () => {
  for (const n of [1, 2, 3]) {
    const { rows } = await sql<{ n: number }>`${kept} select ${n}::int as n`.execute(db);
    expect(rows).toEqual([{ n }]);
    await sql`select ${n}::int as n`.execute(db);
  }
  expect(await planned()).toEqual([{ statement: '/* kept */ select $1::int as n', uses: 3 }]);
});

test('a kept statement that fails leaves its connection usable', async () => {
  const divide = async (by: number) =>
    (await sql<{ n: number }>`${kept} select 10 / ${by}::int as n`.execute(db)).rows[0]?.n;
  expect(await divide(5)).toBe(2);
  await expect(divide(0)).rejects.toThrow('division by zero');
  expect(await divide(2)).toBe(5);
});
