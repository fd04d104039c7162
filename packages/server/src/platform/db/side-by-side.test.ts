import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createDatabase } from '../../../../../test/database.ts';
import { connect, type Db, type Tx } from './db.ts';
import { kept, many, unawaited, unawaitedMany } from './kept-plans.ts';
import { sideBySide } from './side-by-side.ts';
import { together } from './together.ts';
import { afterCommit, transact } from './transact.ts';

let database: Awaited<ReturnType<typeof createDatabase>>;
let db: Db;
beforeAll(async () => {
  database = await createDatabase();
  db = connect({ url: database.url, poolSize: 1 });
  await sql`create table note (n int primary key, said int not null default 0)`.execute(db);
});
beforeEach(async () => {
  await sql`truncate note`.execute(db);
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

const stored = async () =>
  (await sql<{ n: number; said: number }>`select n, said from note order by n`.execute(db)).rows.map(
    ({ n, said }) => [n, said],
  );
const numbers = Array.from({ length: 30 }, (_, i) => i);

/** What the connections of this process send meanwhile. */
async function countSent<T>(
  work: () => Promise<T>,
): Promise<{ result: T; trips: number; statements: number }> {
  const prototype = pg.Client.prototype as unknown as { query: (...args: unknown[]) => unknown };
  const original = prototype.query;
  let trips = 0;
  let statements = 0;
  prototype.query = function counted(...args) {
    const [trip] = args as [{ statements?: readonly unknown[] }];
    trips += 1;
    statements += trip.statements?.length ?? 1;
    return original.apply(this, args);
  };
  try {
    return { result: await work(), trips, statements };
  } finally {
    prototype.query = original;
  }
}

/** Everything that statements of a change come as: kept and not, with values and without, awaited and not, together. */
async function change(tx: Tx, n: number): Promise<number> {
  await sql`${unawaited} insert into note (n) values (${n}::int)`.execute(tx);
  const { rows } = await sql<{
    n: number;
  }>`${kept} select n from note where n = ${n}::int for update`.execute(tx);
  const { rows: one } = await sql<{ one: number }>`select 1 as one`.execute(tx);
  const updated = await sql`update note set said = said + ${one[0]?.one} where n = ${n}`.execute(tx);
  expect(updated.numAffectedRows).toBe(1n);
  for (let i = 0; i < n % 3; i++)
    await sql`${unawaited} update note set said = said + 10 where n = ${n}::int`.execute(tx);
  const [[a], [b]] = await together(
    tx,
    sql<{ said: number }>`${kept} select said from note where n = ${n}::int`,
    sql<{ twice: number }>`${kept} select 2 * ${n}::int as twice`,
  );
  expect([rows[0]?.n, a?.said, b?.twice]).toEqual([n, 1 + 10 * (n % 3), 2 * n]);
  if (n % 2 === 0) await sql`${unawaited} update note set said = said + 100 where n = ${n}::int`.execute(tx);
  return n;
}
const expected = numbers.map((n) => [n, 1 + 10 * (n % 3) + (n % 2 === 0 ? 100 : 0)]);

test('each change finds and writes its own, and all stand with one commit', async () => {
  // The second time the connection has prepared its statements.
  for (let round = 0; round < 2; round++) {
    await sql`truncate note`.execute(db);
    const results = await transact(db, (tx) =>
      sideBySide(
        tx,
        numbers.map((n) => (own: Tx) => change(own, n)),
      ),
    );
    expect(results).toEqual(numbers);
    expect(await stored()).toEqual(expected);
  }
});

test('thirty changes take as many trips as the longest one, and a commit', async () => {
  const run = () =>
    transact(db, (tx) =>
      sideBySide(
        tx,
        numbers.map((n) => async (own: Tx) => {
          await sql`${unawaited} insert into note (n) values (${n}::int)`.execute(own);
          for (let i = 0; i < 3; i++) await sql`${kept} select ${n}::int, ${i}::int`.execute(own);
          await sql`${unawaited} update note set said = 7 where n = ${n}::int`.execute(own);
        }),
      ),
    );
  await run();
  await sql`truncate note`.execute(db);
  const { trips } = await countSent(run);
  expect(trips).toBe(4);
  expect(await stored()).toEqual(numbers.map((n) => [n, 7]));
});

/** As `change`, of statements for many: what it reads is what it, and nobody else, has written. */
async function changeOfMany(tx: Tx, n: number): Promise<number> {
  await sql`${unawaitedMany()} insert into note (n) select * from unnest(${[n]}::int[])`.execute(tx);
  const before = await sql<{ n: number; said: number }>`${many('n')}
    select n, said from note where n = any(${[n]}::int[]) order by n for update`.execute(tx);
  expect(before.rows).toEqual([{ n, said: 0 }]);
  await sql`${unawaitedMany()}
    update note t set said = v.said from unnest(${[n]}::int[], ${[10 * n]}::int[]) as v (n, said)
    where t.n = v.n`.execute(tx);
  const [own, none] = await together(
    tx,
    sql<{ said: number }>`${many('n')} select n, said from note where n = any(${[n]}::int[])`,
    sql<{ said: number }>`${many('n')} select n, said from note where said < 0 and n = any(${[n]}::int[])`,
  );
  expect(none).toEqual([]);
  return own[0]?.said ?? -1;
}

test('what thirty changes ask of statements for many is asked once, and alone each does the same', async () => {
  const changes = numbers.map((n) => (own: Tx) => changeOfMany(own, n));
  const { result, statements } = await countSent(() => transact(db, (tx) => sideBySide(tx, changes)));
  expect(result).toEqual(numbers.map((n) => 10 * n));
  // BEGIN, the five of a change, COMMIT.
  expect(statements).toBe(7);
  expect(await stored()).toEqual(numbers.map((n) => [n, 10 * n]));
  await sql`truncate note`.execute(db);
  for (const change of changes) await transact(db, change);
  expect(await stored()).toEqual(numbers.map((n) => [n, 10 * n]));
});

test('one that throws takes all with it, and what it threw is told after all have ended', async () => {
  let ended = 0;
  const all = transact(db, (tx) =>
    sideBySide(
      tx,
      numbers.map((n) => async (own: Tx) => {
        try {
          await change(own, n);
          if (n === 7) throw new Error('changed our mind');
          await sql`${kept} select ${n}::int, 'later'`.execute(own);
        } finally {
          ended += 1;
        }
      }),
    ),
  );
  await expect(all).rejects.toThrow('changed our mind');
  expect(ended).toBe(numbers.length);
  expect(await stored()).toEqual([]);
});

test('one whose statement the database refuses takes all with it', async () => {
  const all = transact(db, (tx) =>
    sideBySide(
      tx,
      numbers.map((n) => async (own: Tx) => {
        await sql`${kept} insert into note (n) values (${n === 9 ? 8 : n}::int)`.execute(own);
      }),
    ),
  );
  await expect(all).rejects.toThrow('duplicate key');
  expect(await stored()).toEqual([]);
  // What nobody waits for is refused with the commit.
  const silent = transact(db, (tx) =>
    sideBySide(
      tx,
      [1, 1].map((n) => async (own: Tx) => {
        await sql`${unawaited} insert into note (n) values (${n}::int)`.execute(own);
      }),
    ),
  );
  await expect(silent).rejects.toThrow('duplicate key');
  expect(await stored()).toEqual([]);
});

test('what is to be done after the commit is done once for each, and not after a rollback', async () => {
  const done: number[] = [];
  const run = (fails: boolean) =>
    transact(db, (tx) =>
      sideBySide(
        tx,
        [1, 2].map((n) => async (own: Tx) => {
          await sql`${kept} select ${n}::int`.execute(own);
          afterCommit(own, () => done.push(n));
          if (fails) throw new Error('no');
        }),
      ),
    );
  await expect(run(true)).rejects.toThrow('no');
  expect(done).toEqual([]);
  await run(false);
  expect(done).toEqual([1, 2]);
});

test('a change that waits for something else in between holds up nobody for good', async () => {
  const slow = async (own: Tx) => {
    await sql`${kept} select 1::int, 'slow'`.execute(own);
    await sleep(20);
    await sql`${unawaited} insert into note (n) values (${2}::int)`.execute(own);
    await sql`${kept} select pg_sleep(${0.001}::float8)`.execute(own);
  };
  const last = async (own: Tx) => {
    await sql`${kept} select 2::int, 'last'`.execute(own);
    await sql`${kept} select pg_sleep(${0.1}::float8)`.execute(own);
  };
  // It asks while the last trip of the other one is under way, or alone.
  for (const other of [last, async () => {}]) {
    await sql`truncate note`.execute(db);
    await transact(db, (tx) => sideBySide(tx, [slow, other]));
    expect(await stored()).toEqual([[2, 0]]);
  }
});
