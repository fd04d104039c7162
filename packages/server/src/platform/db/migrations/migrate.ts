import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { DEFAULT_MIGRATION_TABLE, type Migration, Migrator } from 'kysely/migration';
import { PACKAGE_FOLDER } from '../../package-folder.ts';
import { connect } from '../db.ts';
import { renameApplied } from './rename-applied.ts';

/**
 * A folder of numbered SQL files, and the table with the list of applied ones. After numbers have changed, a file
 * `renamed.json` in the folder maps each name of earlier releases to the current one, including unchanged names.
 */
export interface MigrationSet {
  folder: URL;
  /** Schema of the list. A set that may have a database of its own uses its own schema. */
  schema?: string;
}

/** Other processes wait for the lock at their start, and migrating a large table takes time. */
const LIMITS = { lockTimeoutMs: 30_000, statementMs: 3_600_000 };

const PRODUCT: MigrationSet = { folder: new URL('migrations/', PACKAGE_FOLDER) };

async function readMigrations(folder: URL): Promise<Record<string, Migration>> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  const entries = names.map(async (name): Promise<[string, Migration]> => {
    const text = await readFile(new URL(name, folder), 'utf8');
    return [name.replace(/\.sql$/, ''), { up: async (db) => void (await sql.raw(text).execute(db)) }];
  });
  return Object.fromEntries(await Promise.all(entries));
}

async function readRenamed(folder: URL): Promise<Record<string, string>> {
  const file = new URL('renamed.json', folder);
  return existsSync(file) ? JSON.parse(await readFile(file, 'utf8')) : {};
}

/**
 * Applies all pending migrations, in order, in one transaction. The first process applies them, others wait. In a
 * database of an earlier release, applied migrations first get their current names.
 *
 * @returns the names of the migrations applied now
 * @throws UnknownMigrations if the database has migrations of another origin or of a later release
 */
export async function migrate(url: string, set: MigrationSet = PRODUCT): Promise<string[]> {
  const db = connect({ url, poolSize: 2, ...LIMITS });
  try {
    const migrations = await readMigrations(set.folder);
    const table =
      set.schema === undefined ? DEFAULT_MIGRATION_TABLE : `${set.schema}.${DEFAULT_MIGRATION_TABLE}`;
    const names = Object.keys(migrations);
    const applied = await renameApplied(db, table, { names, renamed: await readRenamed(set.folder) });
    // The migrator would read every column of the database to find its own tables.
    if (applied === names.length) return [];
    const provider = { getMigrations: async () => migrations };
    const place = set.schema === undefined ? {} : { migrationTableSchema: set.schema };
    const { error, results } = await new Migrator({ db, provider, ...place }).migrateToLatest();
    if (error) throw error;
    return (results ?? []).filter((r) => r.status === 'Success').map((r) => r.migrationName);
  } finally {
    await db.destroy();
  }
}

/** Names of this release's migrations that the database lacks; empty if it is ready to serve. */
export async function pendingMigrations(applied: readonly string[]): Promise<string[]> {
  return Object.keys(await readMigrations(PRODUCT.folder)).filter((name) => !applied.includes(name));
}
