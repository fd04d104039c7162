import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { startPostgres } from '../packages/embedded-postgres/src/index.ts';
import { SERVER_SETTINGS, WRITE_SERVER_SETTINGS } from '../test/server-settings.ts';

/** The embedded PostgreSQL of a run, with fsync on. */
export interface BenchServer {
  url: string;
  /** The postmaster. */
  pid: number;
  version: string;
  settings: string;
  createDatabase(): Promise<string>;
  stop(): Promise<void>;
}

/** Runs statements, each in a commit of its own, on a connection of their own. */
export async function execute(url: string, ...statements: string[]): Promise<pg.QueryResult[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const results: pg.QueryResult[] = [];
    for (const statement of statements) results.push(await client.query(statement));
    return results;
  } finally {
    await client.end();
  }
}

/** Empties tables and writes the rest out, so that a round does not pay for the one before. */
export async function reset(url: string, tables: readonly string[]): Promise<void> {
  await execute(url, `truncate ${tables.join(', ')}`, 'checkpoint');
}

export async function startServer(): Promise<BenchServer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'florin-bench-'));
  // As root the server runs under another account, which has to pass.
  await chmod(folder, 0o755);
  const options = { dataDir: path.join(folder, 'postgres'), durable: true };
  const first = await startPostgres(options);
  await execute(first.url, ...WRITE_SERVER_SETTINGS);
  await first.stop();
  const postgres = await startPostgres(options);
  const [version] = await execute(postgres.url, 'show server_version');
  return {
    url: postgres.url,
    pid: postgres.pid,
    version: version?.rows[0]?.server_version ?? 'unknown',
    settings: Object.entries({ fsync: 'on', ...SERVER_SETTINGS })
      .map(([name, value]) => `${name}=${value}`)
      .join(', '),
    async createDatabase() {
      const name = `bench_${randomBytes(6).toString('hex')}`;
      await execute(postgres.url, `create database ${name}`);
      const url = new URL(postgres.url);
      url.pathname = `/${name}`;
      return url.href;
    },
    async stop() {
      await postgres.stop();
      for (const place of [postgres.dataDir, folder]) await rm(place, { recursive: true, force: true });
    },
  };
}
