import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDatabase } from '../../../../../../test/database.ts';
import { newId } from '../ids/ids.ts';
import { migrate, pendingMigrations } from './migrate.ts';
import { planRenames, UnknownMigrations } from './rename-applied.ts';

const MIGRATIONS = new URL('../../../../migrations/', import.meta.url);
const RENAMED: Record<string, string> = JSON.parse(readFileSync(new URL('renamed.json', MIGRATIONS), 'utf8'));
const TODAY = await pendingMigrations([]);
const KNOWN = { names: TODAY, renamed: RENAMED };
/** What the last release before the renumbering applied. */
const BEFORE = Object.keys(RENAMED).filter((name) => name !== '0031_earlier_quotes');

/** What came after the renumbering. */
const SINCE = TODAY.slice(BEFORE.length);

test('numbers have no hole', () => {
  expect(TODAY.map((name) => Number(name.slice(0, 4)))).toEqual(TODAY.map((_, i) => i + 1));
});

describe('planRenames', () => {
  test('every first part of the list of before is renamed', () => {
    for (let length = 1; length <= BEFORE.length; length++) {
      const pairs = planRenames(BEFORE.slice(0, length), KNOWN);
      const after = BEFORE.slice(0, length).map((name) => new Map(pairs).get(name) ?? name);
      expect(after).toEqual(TODAY.slice(0, length));
    }
  });

  test('the last migration is known by both numbers that it had', () => {
    expect(planRenames(BEFORE.with(-1, '0031_earlier_quotes'), KNOWN).at(-1)).toEqual([
      '0031_earlier_quotes',
      '0026_earlier_quotes',
    ]);
  });

  test("every first part of today's list stays", () => {
    for (let length = 0; length <= TODAY.length; length++)
      expect(planRenames(TODAY.slice(0, length), KNOWN)).toEqual([]);
  });

  test.each<[string, string[], string]>([
    ['an unknown name', ['0001_foundation', '0002_foreign'], 'Migration 2 of this database is 0002_foreign'],
    ['a gap', BEFORE.toSpliced(3, 1), `Migration 4 of this database is ${BEFORE[4]}`],
    ['a gap in the names of today', TODAY.toSpliced(3, 1), `Migration 4 of this database is ${TODAY[4]}`],
    [
      'another order',
      [...BEFORE.slice(1), '0001_foundation'],
      `Migration 1 of this database is ${BEFORE[1]}`,
    ],
    [
      'a mixture',
      [...BEFORE.slice(0, 2), '0003_job_trace'],
      'Migration 3 of this database is 0003_job_trace',
    ],
    [
      'a later release',
      [...TODAY, '0099_later'],
      `Migration ${TODAY.length + 1} of this database is 0099_later`,
    ],
  ])('%s is refused', (_, applied, message) => {
    expect(() => planRenames(applied, KNOWN)).toThrow(UnknownMigrations);
    expect(() => planRenames(applied, KNOWN)).toThrow(message);
  });
});

describe('migrate', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let client: pg.Client;
  /** The migrations that there were at the renumbering. */
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'florin-migrations-'));
    for (const name of TODAY.slice(0, BEFORE.length))
      cpSync(new URL(`${name}.sql`, MIGRATIONS), path.join(folder, `${name}.sql`));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  beforeEach(async () => {
    database = await createDatabase({ isEmpty: true });
    await migrate(database.url, { folder: pathToFileURL(`${folder}/`) });
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
  });
  afterEach(async () => {
    await client.end();
    await database.drop();
  });

  const listed = async () => (await client.query('select * from kysely_migration order by name')).rows;
  const nameBack = async () => {
    for (const old of BEFORE)
      await client.query('update kysely_migration set name = $1 where name = $2', [old, RENAMED[old]]);
  };

  test('a database of before is renamed once, by whoever is first, and keeps its data', async () => {
    const merchant = newId();
    await client.query(
      "insert into merchant (merchant_id, name, mode, created_at) values ($1, 'Old', 'sandbox', 1)",
      [merchant],
    );
    const before = await listed();
    await nameBack();
    expect((await listed()).map(({ name }) => name)).toEqual(BEFORE);
    const applied = await Promise.all([migrate(database.url), migrate(database.url)]);
    expect(applied.flat()).toEqual(SINCE);
    expect((await listed()).slice(0, before.length)).toEqual(before);
    expect((await listed()).map(({ name }) => name)).toEqual(TODAY);
    const { rows } = await client.query('select name from merchant where merchant_id = $1', [merchant]);
    expect(rows).toEqual([{ name: 'Old' }]);
  });

  test('a database of before that lacks the last migration gets it under its new number', async () => {
    await nameBack();
    const last = BEFORE.at(-1) ?? '';
    await client.query('delete from kysely_migration where name = $1', [last]);
    await client.query(`alter table payment_option drop column quoted_at, drop column earlier_quotes;
                        alter table payment drop column earlier_amounts`);
    expect(await migrate(database.url)).toEqual([RENAMED[last], ...SINCE]);
    expect((await listed()).map(({ name }) => name)).toEqual(TODAY);
  });

  test('a list of another origin is refused in one line and stays as it is', async () => {
    await nameBack();
    await client.query("update kysely_migration set name = '0006_shop' where name = '0006_checkout'");
    const before = await listed();
    const refused = await migrate(database.url).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(UnknownMigrations);
    expect(String(refused)).toBe(
      'Error: Migration 5 of this database is 0006_shop, which is not migration 5 of this release or of an earlier one: ' +
        'use the release that made the database, or restore a backup. Nothing was changed',
    );
    expect(await listed()).toEqual(before);
  });
});
