import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDatabase } from '../../../../../test/database.ts';
import { connect, type Db } from './db.ts';
import { deferred, pipeline, prepared } from './statements/statement.ts';
import { afterCommit, CommitUnknown, transact } from './transact.ts';

let database: Awaited<ReturnType<typeof createDatabase>>;
let db: Db;
let watcher: Db;
beforeAll(async () => {
  database = await createDatabase();
  db = connect({ url: database.url, poolSize: 1 });
  watcher = connect({ url: database.url, poolSize: 1 });
  await sql`create table note (n int primary key)`.execute(db);
});
beforeEach(async () => {
  await sql`truncate note`.execute(db);
});
afterAll(async () => {
  await db.destroy();
  await watcher.destroy();
  await database.drop();
});

const stored = async () =>
  (await sql<{ n: number }>`select n from note order by n`.execute(watcher)).rows.map((row) => row.n);
const insert = (on: Db, n: number) =>
  sql<{ n: number }>`insert into note values (${n}) returning n`.execute(on);
const insertPrepared = (on: Db, n: number) => prepared`insert into note (n) values (${n}::int)`.execute(on);

test.each([
  ['plain', insert],
  ['prepared', insertPrepared],
  ['without values', (on: Db, n: number) => sql`insert into note values (${sql.lit(n)})`.execute(on)],
])(
  'a %s first statement is in the transaction: it stands with the commit and falls with a throw',
  async (_, add) => {
    await db.transaction().execute(async (tx) => {
      await add(tx, 1);
      expect(await stored()).toEqual([]);
      await add(tx, 2);
    });
    expect(await stored()).toEqual([1, 2]);
    const undone = db.transaction().execute(async (tx) => {
      await add(tx, 3);
      throw new Error('changed our mind');
    });
    await expect(undone).rejects.toThrow('changed our mind');
    expect(await stored()).toEqual([1, 2]);
  },
);

test('the first statement answers with its own rows and count', async () => {
  const answer = await db.transaction().execute((tx) => insert(tx, 7));
  expect(answer.rows).toEqual([{ n: 7 }]);
  expect(answer.numAffectedRows).toBe(1n);
});

describe('where BEGIN fails', () => {
  let spoilt: Db;
  beforeEach(async () => {
    spoilt = connect({ url: database.url, poolSize: 1 });
    await transact(spoilt, (tx) => sql`select ${1}::int`.execute(tx));
    // The connection takes BEGIN for prepared, so that the server refuses it.
    const { rows } = await sql<{ name: string }>`
      select name from pg_prepared_statements where statement = 'begin'`.execute(spoilt);
    await sql`deallocate ${sql.id(rows[0]?.name ?? '')}`.execute(spoilt);
  });
  afterEach(() => spoilt.destroy());

  test.each([
    ['prepared', insertPrepared],
    ['plain', insert],
    ['without values', (on: Db, n: number) => sql`insert into note values (${sql.lit(n)})`.execute(on)],
  ])('a %s statement that came with it is not run', async (_, add) => {
    await expect(transact(spoilt, (tx) => add(tx, 1))).rejects.toThrow('does not exist');
    expect(await stored()).toEqual([]);
    await transact(spoilt, (tx) => add(tx, 1));
    expect(await stored()).toEqual([1]);
  });

  test('nothing later is run either, and the commit fails for certain', async () => {
    const change = transact(spoilt, async (tx) => {
      await insert(tx, 1).catch(() => {});
      await insert(tx, 2).catch(() => {});
      await sql`insert into note values (3)`.execute(tx).catch(() => {});
    });
    const error = await change.catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: '26000' });
    expect(await stored()).toEqual([]);
  });
});

test('after an error nothing is run any more, and the commit fails with it', async () => {
  await insert(db, 1);
  const change = transact(db, async (tx) => {
    await insert(tx, 2);
    await insert(tx, 1).catch(() => {});
    await expect(insert(tx, 3)).rejects.toMatchObject({ code: '23505' });
  });
  await expect(change).rejects.toMatchObject({ code: '23505' });
  expect(await stored()).toEqual([1]);
});

test('a value without a text form fails its statement before it is sent, and the transaction goes on', async () => {
  const circular: { self?: object } = {};
  circular.self = circular;
  await transact(db, async (tx) => {
    await expect(sql`select ${circular}::jsonb`.execute(tx)).rejects.toThrow('circular');
    await insert(tx, 1);
  });
  expect(await stored()).toEqual([1]);
});

test('a value that cannot be read fails its statement, and the connection goes on', async () => {
  const typed = pg.types.getTypeParser(pg.types.builtins.MACADDR);
  pg.types.setTypeParser(pg.types.builtins.MACADDR, () => {
    throw new Error('unreadable');
  });
  await expect(sql`select '08:00:2b:01:02:03'::macaddr where ${true}`.execute(db)).rejects.toThrow(
    'cannot be read',
  );
  pg.types.setTypeParser(pg.types.builtins.MACADDR, typed);
  await insert(db, 1);
  expect(await stored()).toEqual([1]);
});

test('a first statement that fails ends its transaction, and the connection goes on', async () => {
  await insert(db, 1);
  for (const add of [insert, insertPrepared]) {
    await expect(db.transaction().execute((tx) => add(tx, 1))).rejects.toThrow('duplicate key');
    await db.transaction().execute((tx) => insert(tx, 2));
    await sql`delete from note where n = 2`.execute(db);
  }
  expect(await stored()).toEqual([1]);
});

test('a transaction that does nothing leaves nothing behind', async () => {
  await db.transaction().execute(async () => {});
  await expect(db.transaction().execute(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await insert(db, 1);
  expect(await stored()).toEqual([1]);
});

const add = (on: Db, n: number) => deferred`insert into note (n) values (${n}::int)`.execute(on);

describe('a deferred statement', () => {
  beforeEach(async () => {
    await transact(db, (tx) => add(tx, 0));
  });

  test('goes out with the next statement, in order', async () => {
    await transact(db, async (tx) => {
      await add(tx, 1);
      await add(tx, 2);
      const { rows } = await sql<{ n: number }>`select n from note where n > ${0} order by n`.execute(tx);
      expect(rows).toEqual([{ n: 1 }, { n: 2 }]);
      await add(tx, 3);
      await sql`update note set n = 30 where n = 3`.execute(tx);
      await add(tx, 4);
    });
    expect(await stored()).toEqual([0, 1, 2, 4, 30]);
  });

  test('may be all that a transaction does', async () => {
    await transact(db, (tx) => add(tx, 1));
    expect(await stored()).toEqual([0, 1]);
  });

  test('falls with its transaction', async () => {
    const undone = transact(db, async (tx) => {
      await add(tx, 1);
      throw new Error('changed our mind');
    });
    await expect(undone).rejects.toThrow('changed our mind');
    const later = transact(db, async (tx) => {
      await insert(tx, 1);
      await add(tx, 2);
      throw new Error('changed our mind');
    });
    await expect(later).rejects.toThrow('changed our mind');
    expect(await stored()).toEqual([0]);
  });

  test('fails the statement that it went with, and nothing of the transaction is committed', async () => {
    const failed = transact(db, async (tx) => {
      await insert(tx, 1);
      await add(tx, 0);
      await insert(tx, 2);
    });
    await expect(failed).rejects.toMatchObject({ code: '23505' });
    expect(await stored()).toEqual([0]);
    await transact(db, (tx) => add(tx, 5));
    expect(await stored()).toEqual([0, 5]);
  });

  test('fails the commit that it went with, which is known never to have been', async () => {
    let isCalled = false;
    const failed = transact(db, async (tx) => {
      await insert(tx, 1);
      await add(tx, 0);
      afterCommit(tx, () => {
        isCalled = true;
      });
    });
    const error = await failed.catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: '23505' });
    expect(error).not.toBeInstanceOf(CommitUnknown);
    expect(isCalled).toBe(false);
    expect(await stored()).toEqual([0]);
    await transact(db, (tx) => insert(tx, 1));
    expect(await stored()).toEqual([0, 1]);
  });

  test('is sent at once outside of a transaction', async () => {
    await add(db, 1);
    expect(await stored()).toEqual([0, 1]);
  });
});

describe('a pipeline', () => {
  const above = (n: number) => prepared<{ n: number }>`select n from note where n > ${n}::int order by n`;
  const locked = (n: number) => prepared<{ found: number }>`
    select n as found from note where n = ${n}::int for update`;

  beforeEach(async () => {
    await transact(db, async (tx) => {
      await add(tx, 1);
      await add(tx, 2);
    });
  });

  test.each([1, 2])('each has its own rows, behind deferred ones (time %i)', async () => {
    await transact(db, async (tx) => {
      await add(tx, 3);
      expect(await pipeline(tx, above(1), locked(1), above(5))).toEqual([
        [{ n: 2 }, { n: 3 }],
        [{ found: 1 }],
        [],
      ]);
      await add(tx, 4);
      expect(await pipeline(tx, above(3))).toEqual([[{ n: 4 }]]);
    });
    expect(await stored()).toEqual([1, 2, 3, 4]);
  });

  test('a read behind a lock sees what the holder of the lock has committed', async () => {
    await transact(db, (tx) => pipeline(tx, locked(1), above(1)));
    let read: Promise<unknown> | undefined;
    await transact(watcher, async (tx) => {
      await locked(1).execute(tx);
      read = transact(db, (own) => pipeline(own, locked(1), above(1)));
      await add(tx, 7);
      const waits = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await expect.poll(async () => (await waits.execute(tx)).rows.length).toBe(1);
    });
    expect(await read).toEqual([[{ found: 1 }], [{ n: 2 }, { n: 7 }]]);
  });

  test('one that fails fails all of them, and the connection goes on', async () => {
    const divided = (by: number) => prepared<{ n: number }>`select 10 / ${by}::int as n`;
    await transact(db, (tx) => pipeline(tx, divided(2), above(0)));
    const failed = transact(db, async (tx) => {
      await add(tx, 3);
      await pipeline(tx, above(0), divided(0), above(0));
    });
    await expect(failed).rejects.toThrow('division by zero');
    expect(await stored()).toEqual([1, 2]);
    expect(await transact(db, (tx) => pipeline(tx, divided(5), above(1)))).toEqual([[{ n: 2 }], [{ n: 2 }]]);
  });
});
