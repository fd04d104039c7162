import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDatabase } from '../../../../../../test/database.ts';
import { firstIdAt } from '../ids/ids.ts';
import { maintainDays } from './day-partitions.ts';

const DAY_MS = 86_400_000;

let url: string;
let client: pg.Client;
let drop: () => Promise<void>;

beforeEach(async () => {
  const database = await createDatabase();
  [url, drop] = [database.url, () => database.drop()];
  client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    `create table news (event_id uuid primary key, text text) partition by range (event_id)`,
  );
  await client.query('create table news_default partition of news default');
});
afterEach(async () => {
  await client.end();
  await drop();
});

const insert = (atMs: number, text: string) =>
  client.query('insert into news values ($1, $2)', [firstIdAt(atMs).replace(/0$/, '1'), text]);
const texts = async () =>
  (await client.query<{ text: string }>('select text from news order by event_id')).rows.map(
    ({ text }) => text,
  );
const placeOf = async (text: string) =>
  (
    await client.query<{ place: string }>(
      'select tableoid::regclass::text as place from news where text = $1',
      [text],
    )
  ).rows[0]?.place;

test('days are created once, also concurrently, and rows go to the day of their id', async () => {
  const reports = await Promise.all([1, 2, 3].map(() => maintainDays(url, ['news'])));
  expect(reports.map(({ added }) => added.length).toSorted((a, b) => a - b)).toEqual([0, 0, 4]);
  const nowMs = Date.now();
  await insert(nowMs, 'now');
  await insert(nowMs + DAY_MS, 'tomorrow');
  await insert(nowMs + 30 * DAY_MS, 'far');
  const day = (ms: number) => `news_p${new Date(ms).toISOString().slice(0, 10).replaceAll('-', '')}`;
  expect([await placeOf('now'), await placeOf('tomorrow'), await placeOf('far')]).toEqual([
    day(nowMs),
    day(nowMs + DAY_MS),
    'news_default',
  ]);
});

test('days are dropped whole after the time they are kept, strays are deleted, younger ones stay', async () => {
  const todayMs = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  for (const age of [40, 31, 30, 29, 1]) {
    const fromMs = todayMs - age * DAY_MS;
    const name = `news_p${new Date(fromMs).toISOString().slice(0, 10).replaceAll('-', '')}`;
    if (age !== 1)
      await client.query(
        `create table ${name} partition of news for values from ('${firstIdAt(fromMs)}') to ('${firstIdAt(fromMs + DAY_MS)}')`,
      );
    await insert(fromMs + 1_000, `${age} days`);
  }
  await insert(todayMs - 50 * DAY_MS, 'stray');
  const { dropped } = await maintainDays(url, ['news'], 30);
  expect(dropped.length).toBe(2);
  expect(await texts()).toEqual(['30 days', '29 days', '1 days']);
  expect((await maintainDays(url, ['news'], 30)).dropped).toEqual([]);
});

test('a day whose rows are in the default partition already is left there, and reported', async () => {
  await insert(Date.now(), 'early');
  const { added, left } = await maintainDays(url, ['news']);
  expect([added.length, left.length]).toEqual([3, 1]);
  expect(await placeOf('early')).toBe('news_default');
});

test('a table that somebody holds is left for the next time and nobody waits for long', async () => {
  await maintainDays(url, ['news']);
  const day = `news_p${new Date(Date.now() - 40 * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '')}`;
  await client.query(
    `create table ${day} partition of news for values from ('${firstIdAt(0)}') to ('${firstIdAt(DAY_MS)}')`,
  );
  await client.query('begin');
  await client.query('select from news');
  const { left } = await maintainDays(url, ['news'], 30);
  expect(left.map(({ partition }) => partition)).toContain(day);
  await client.query('commit');
  expect((await maintainDays(url, ['news'], 30)).dropped).toEqual([day]);
});
