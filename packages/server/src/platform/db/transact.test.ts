import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createDatabase } from '../../../../../test/database.ts';
import { openProxy } from '../../../../../test/jobs/cuttable-proxy.ts';
import { codeOf, connect, type Db, isRetryable, isUnavailable } from './db.ts';
import { afterCommit, CommitUnknown, transact } from './transact.ts';

let url: string;
let db: Db;
let drop: () => Promise<void>;

beforeAll(async () => {
  const database = await createDatabase();
  url = database.url;
  drop = () => database.drop();
  db = connect({ url, poolSize: 4 });
  await sql`create table tally (name text primary key, n int not null)`.execute(db);
});
beforeEach(async () => {
  await sql`delete from tally`.execute(db);
  await sql`insert into tally values ('a', 0), ('b', 0)`.execute(db);
});
afterAll(async () => {
  await db.destroy();
  await drop();
});

const add = (on: Db, name: string) => sql`update tally set n = n + 1 where name = ${name}`.execute(on);
async function tally(): Promise<Record<string, number>> {
  const { rows } = await sql<{ name: string; n: number }>`select * from tally order by name`.execute(db);
  return Object.fromEntries(rows.map(({ name, n }) => [name, n]));
}

test('a throw rolls everything back, whatever it is', async () => {
  const refused = transact(db, async (tx) => {
    await add(tx, 'a');
    throw new Error('refused');
  });
  await expect(refused).rejects.toThrow('refused');
  expect(await tally()).toEqual({ a: 0, b: 0 });
});

test('M1: two transactions that wait for each other both end: the loser runs again whole', async () => {
  let runs = 0;
  const both = new Promise<void>((resolve) => {
    let there = 0;
    bothAreIn = () => {
      if (++there === 2) resolve();
    };
  });
  const cross = (first: string, second: string) =>
    transact(db, async (tx) => {
      runs++;
      await add(tx, first);
      bothAreIn();
      await both;
      await add(tx, second);
    });
  await Promise.all([cross('a', 'b'), cross('b', 'a')]);
  expect(await tally()).toEqual({ a: 2, b: 2 });
  expect(runs).toBeGreaterThan(2);
});
let bothAreIn: () => void;

test('M1: a transaction that loses every race gives up with the error of the race', async () => {
  let runs = 0;
  const always = transact(db, async (tx) => {
    runs++;
    await sql`do $$ begin raise exception 'again' using errcode = '40001'; end $$`.execute(tx);
  });
  await expect(always).rejects.toSatisfy(isRetryable);
  expect(runs).toBe(8);
});

test('a row that somebody else holds is waited for no longer than the pool says, and that is a 503', async () => {
  const hasty = connect({ url, poolSize: 1, lockTimeoutMs: 100 });
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  await holder.query(`begin; update tally set n = 5 where name = 'a'`);
  const started = performance.now();
  const waited = await transact(hasty, (tx) => add(tx, 'a')).catch((error: unknown) => error);
  expect(codeOf(waited)).toBe('55P03');
  expect(isUnavailable(waited)).toBe(true);
  expect(performance.now() - started).toBeLessThan(8_000);
  await holder.query('rollback');
  await transact(hasty, (tx) => add(tx, 'a'));
  expect(await tally()).toEqual({ a: 1, b: 0 });
  await holder.end();
  await hasty.destroy();
});

test('fault 70: a line cut while the change runs is no commit; cut at COMMIT it is unknown', async () => {
  const line = await openProxy(url);
  const remote = connect({ url: line.url, poolSize: 1 });
  const before = transact(remote, async (tx) => {
    await add(tx, 'a');
    line.cut();
    await add(tx, 'b');
  });
  const error = await before.catch((caught: unknown) => caught);
  expect(error).not.toBeInstanceOf(CommitUnknown);
  expect(isUnavailable(error)).toBe(true);
  line.mend();
  expect(await tally()).toEqual({ a: 0, b: 0 });

  const told: string[] = [];
  const at = transact(remote, async (tx) => {
    afterCommit(tx, () => told.push('perhaps'));
    await add(tx, 'a');
    line.cut();
  });
  await expect(at).rejects.toBeInstanceOf(CommitUnknown);
  // It may stand: who acts upon a commit has to act.
  expect(told).toEqual(['perhaps']);
  line.mend();
  await transact(remote, (tx) => add(tx, 'b'));
  expect((await tally()).b).toBe(1);
  await remote.destroy();
  await line.close();
});

test('what waits for a commit is called once, when others see the change', async () => {
  const told: unknown[] = [];
  let seen: Promise<unknown> | undefined;
  const result = await transact(db, async (tx) => {
    afterCommit(tx, (pool) => {
      told.push(pool);
      seen = tally();
    });
    await add(tx, 'a');
    expect(told).toEqual([]);
    return 5;
  });
  expect(result).toBe(5);
  expect(told).toEqual([db]);
  expect(await seen).toEqual({ a: 1, b: 0 });
});

test('what waits for a commit is not called after a rollback, and after a lost race once', async () => {
  const told: number[] = [];
  const refused = transact(db, async (tx) => {
    afterCommit(tx, () => told.push(0));
    throw new Error('refused');
  });
  await expect(refused).rejects.toThrow('refused');
  let runs = 0;
  await transact(db, async (tx) => {
    const run = ++runs;
    afterCommit(tx, () => told.push(run));
    if (run < 3) await sql`do $$ begin raise exception 'again' using errcode = '40001'; end $$`.execute(tx);
  });
  expect(told).toEqual([3]);
});

test('only a transaction that ends here can be waited for', async () => {
  const other = db.transaction().execute(async (tx) => afterCommit(tx, () => {}));
  await expect(other).rejects.toThrow('not begun by transact');
});
