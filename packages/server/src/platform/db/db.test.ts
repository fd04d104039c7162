import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../../../../test/database.ts';
import { openFaultProxy } from '../../../../../test/faults/proxy.ts';
import { connect, countConnections, inSession, isUnavailable, openSession } from './db.ts';

let database: Awaited<ReturnType<typeof createDatabase>>;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

const causeOf = (work: Promise<unknown>) => work.then(() => undefined).catch((error: unknown) => error);

test('a statement that takes too long is ended by the server, and its connection goes on', async () => {
  const db = connect({ url: database.url, poolSize: 1, statementMs: 200 });
  const error = await causeOf(sql`select pg_sleep(60)`.execute(db));
  expect(error).toMatchObject({ code: '57014' });
  expect(isUnavailable(error)).toBe(true);
  await sql`select 1`.execute(db);
  expect(countConnections(db)).toEqual({ total: 1, idle: 1, waiting: 0 });
  await db.destroy();
});

test('a connection without answers is dropped with its statements, and the next caller gets a new one', async () => {
  const proxy = await openFaultProxy(database.url);
  const db = connect({ url: proxy.url, poolSize: 1, statementMs: 200 });
  await sql`select 1`.execute(db);
  const lost = db.transaction().execute(async (tx) => {
    await sql`select 1`.execute(tx);
    proxy.freeze();
    proxy.thaw();
    await sql`select 2`.execute(tx);
  });
  expect(isUnavailable(await causeOf(lost))).toBe(true);
  expect((await sql<{ one: number }>`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }]);
  await db.destroy();
  await proxy.close();
});

test('a session that is cut fails its statement and ends nothing else', async () => {
  const session = await openSession(database.url);
  const { rows } = await session.query<{ pid: number }>('select pg_backend_pid() as pid');
  const other = await openSession(database.url);
  const asleep = causeOf(session.query('select pg_sleep(60)'));
  await other.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
  expect(isUnavailable(await asleep)).toBe(true);
  expect(isUnavailable(await causeOf(session.query('select 1')))).toBe(true);
  await other.end();
  await session.end().catch(() => {});
});

test.each(['between two statements', 'in a transaction'])(
  'who stands still %s of a piece of work loses the session, and the locks that others wait for',
  async (where) => {
    const lock = 'select pg_advisory_lock(1)';
    const standstill = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const frozen = inSession(
      database.url,
      async (session) => {
        if (where === 'in a transaction') await session.query('begin');
        await session.query(lock);
        locked.resolve();
        await standstill.promise;
        await session.query('select 1');
      },
      { idleMs: 1_500 },
    );
    await locked.promise;
    await inSession(database.url, (session) => session.query(lock));
    standstill.resolve();
    expect(isUnavailable(await causeOf(frozen))).toBe(true);
  },
);
