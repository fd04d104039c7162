import { readdir, readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { connect } from './db.ts';

const FOLDER = new URL('../../migrations/', import.meta.url);

async function readMigrations(): Promise<Record<string, Migration>> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.sql')).sort();
  const entries = names.map(async (name): Promise<[string, Migration]> => {
    const text = await readFile(new URL(name, FOLDER), 'utf8');
    return [name.replace(/\.sql$/, ''), { up: async (db) => void (await sql.raw(text).execute(db)) }];
  });
  return Object.fromEntries(await Promise.all(entries));
}

/**
 * Applies every migration not yet applied, in order, in one transaction; whoever is first does it, others wait.
 *
 * @returns the names of those applied now.
 */
export async function migrate(url: string): Promise<string[]> {
  const db = connect({ url, poolSize: 2 });
  try {
    const migrator = new Migrator({ db, provider: { getMigrations: readMigrations } });
    const { error, results } = await migrator.migrateToLatest();
    if (error) throw error;
    return (results ?? []).filter((r) => r.status === 'Success').map((r) => r.migrationName);
  } finally {
    await db.destroy();
  }
}

/** Names of the migrations this release has and the database lacks: empty when it is ready to serve. */
export async function pendingMigrations(applied: readonly string[]): Promise<string[]> {
  return Object.keys(await readMigrations()).filter((name) => !applied.includes(name));
}
