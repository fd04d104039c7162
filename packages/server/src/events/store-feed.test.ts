import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../../../test/database.ts';
import { newId } from '../platform/db/ids/index.ts';
import { connect, type Db } from '../platform/db/index.ts';
import { StoreFeed } from './store-feed.ts';

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

const feedOf = () => new StoreFeed(db, { merchantId: newId(), storeId: newId() });

async function insert({ merchantId, storeId }: StoreFeed, number: bigint): Promise<void> {
  const ids = { merchant_id: merchantId, store_id: storeId, event_id: newId() };
  const event = { ...ids, number, type: 'invoice.paid', resource: 'in_1', sequence: number } as const;
  await db
    .insertInto('event')
    .values({ ...event, body: '{}', created_at: 0, recorded_at_ms: 0 })
    .execute();
}

test('a read covers the events up to its start, not later ones', async () => {
  const feed = feedOf();
  // Numbers 1 to 3 were assigned, and their events deleted.
  feed.advance(3n);
  const reading = feed.read(0n);
  await insert(feed, 4n);
  feed.advance(4n);
  const { rows, upTo } = await reading;
  expect(upTo).toBe(3n);
  const next = await feed.read(rows.at(-1)?.number ?? upTo);
  expect([...rows, ...next.rows].map((row) => row.number)).toEqual([4n]);
});

test('listeners at the same position share a read; a later one sees more', async () => {
  const feed = feedOf();
  await insert(feed, 1n);
  feed.advance(1n);
  const [one, two] = await Promise.all([feed.read(0n), feed.read(0n)]);
  expect(one).toBe(two);
  await insert(feed, 2n);
  feed.advance(2n);
  expect((await feed.read(0n)).rows).toHaveLength(2);
});

test('a failed read is not cached', async () => {
  const feed = new StoreFeed(db, { merchantId: 'no id', storeId: 'none' });
  await expect(feed.read(0n)).rejects.toThrow(/uuid/);
  await expect(feed.read(0n)).rejects.toThrow(/uuid/);
});

test('a waiting listener is woken by new events, by leaving, or by the timeout', async () => {
  const feed = feedOf();
  const { signal } = new AbortController();
  const waiting = feed.waitForMove(0n, signal, 60_000);
  feed.advance(1n);
  expect(await waiting).toBe(true);
  // An end that moved before the wait returns at once.
  expect(await feed.waitForMove(0n, signal, 60_000)).toBe(true);
  expect(await feed.waitForMove(1n, signal, 1)).toBe(false);
  const leaving = new AbortController();
  const left = feed.waitForMove(1n, leaving.signal, 60_000);
  leaving.abort();
  expect(await left).toBe(true);
  expect(await feed.waitForMove(1n, leaving.signal, 60_000)).toBe(true);
  // A late poll with an older end changes nothing.
  feed.advance(0n);
  expect(feed.end).toBe(1n);
});
