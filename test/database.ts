import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { migrate } from '../packages/server/src/platform/db/migrations/migrate.ts';

interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

const TEMPLATE = 'florin_template';
/** Any fixed number: test files clone one after the other, as two clones at once collide on the template. */
const TEMPLATE_LOCK = 7001;

/**
 * Clones the migrated template into a new database: call it once per test file and `drop()` it afterwards.
 *
 * @param isEmpty without any migration
 */
export async function createDatabase({ isEmpty = false } = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await administer(async (admin) => {
    if (isEmpty) return void (await admin.query(`CREATE DATABASE ${name}`));
    await admin.query('SELECT pg_advisory_lock($1)', [TEMPLATE_LOCK]);
    await ensureTemplate(admin);
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}`);
  });
  const drop = () =>
    administer(async (admin) => void (await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)));
  return { url: urlOf(name), drop };
}

/** The first test file that needs a database migrates the template; a run without one pays nothing. */
async function ensureTemplate(admin: pg.Client): Promise<void> {
  const found = await admin.query('SELECT FROM pg_database WHERE datname = $1', [TEMPLATE]);
  if (found.rowCount !== 0) return;
  const draft = `${TEMPLATE}_draft`;
  await admin.query(`DROP DATABASE IF EXISTS ${draft} WITH (FORCE)`);
  await admin.query(`CREATE DATABASE ${draft}`);
  await migrate(urlOf(draft));
  // Renamed last, so that a failed migration never leaves a half-made template behind.
  await admin.query(`ALTER DATABASE ${draft} RENAME TO ${TEMPLATE}`);
}

async function administer(work: (admin: pg.Client) => Promise<void>): Promise<void> {
  const admin = new pg.Client({ connectionString: inject('postgresUrl') });
  await admin.connect();
  try {
    await work(admin);
  } finally {
    await admin.end();
  }
}

function urlOf(database: string): string {
  const url = new URL(inject('postgresUrl'));
  url.pathname = `/${database}`;
  return url.href;
}
