import { sql } from 'kysely';
import type { Db } from '../db.ts';

/** The migrations of a release, in order, and a map from the names of earlier releases to the current ones. */
export interface KnownMigrations {
  names: readonly string[];
  renamed: Readonly<Record<string, string>>;
}

/** The list of applied migrations does not match any release. */
export class UnknownMigrations extends Error {}

/** The migrator's interface requires these names; on PostgreSQL its lock is an advisory lock with a fixed number. */
const LOCK = { lockTable: 'kysely_migration_lock', lockRowId: 'migration_lock' };

/**
 * Renames applied migrations from earlier names to the current ones, in one transaction under the migrator's lock. Only
 * the list changes.
 *
 * @returns how many of `known.names` are applied: the first ones
 * @throws UnknownMigrations, with nothing changed, see `planRenames`
 */
export async function renameApplied(db: Db, table: string, known: KnownMigrations): Promise<number> {
  const { adapter } = db.getExecutor();
  return await db.connection().execute(async (connection) => {
    await adapter.acquireMigrationLock(connection, LOCK);
    try {
      return await connection.transaction().execute(async (tx) => {
        const { rows: tables } = await sql`select where to_regclass(${table}) is not null`.execute(tx);
        if (tables.length === 0) return 0;
        const list = sql.table(table);
        const { rows } = await sql<{ name: string }>`
          select name from ${list} order by timestamp, name collate "C"`.execute(tx);
        const applied = rows.map((row) => row.name);
        for (const [from, to] of planRenames(applied, known))
          await sql`update ${list} set name = ${to} where name = ${from}`.execute(tx);
        return applied.length;
      });
    } finally {
      await adapter.releaseMigrationLock(connection, LOCK);
    }
  });
}

/**
 * Pairs of old and new name for the applied migrations, which come in the order of their application.
 *
 * @throws UnknownMigrations unless the applied names are a prefix of the current names or of the earlier names. An
 *   unknown name, a gap, another order or a mixture of both is refused.
 */
export function planRenames(
  applied: readonly string[],
  { names, renamed }: KnownMigrations,
): [string, string][] {
  const ofBefore = applied.map((name) => renamed[name]);
  const agreeing = (read: readonly unknown[]) => {
    const wrong = read.findIndex((name, i) => name !== names[i]);
    return wrong === -1 ? read.length : wrong;
  };
  const wrong = Math.max(agreeing(applied), agreeing(ofBefore));
  if (wrong < applied.length)
    throw new UnknownMigrations(
      `Migration ${wrong + 1} of this database is ${applied[wrong]}, which is not migration ${wrong + 1} of this release or ` +
        'of an earlier one: use the release that made the database, or restore a backup. Nothing was changed',
    );
  return applied.flatMap((name, i): [string, string][] => {
    const to = names[i] ?? name;
    return to === name ? [] : [[name, to]];
  });
}
