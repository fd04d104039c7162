import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { startPostgres } from '../packages/embedded-postgres/src/index.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Administrator's address of the run's PostgreSQL, database `postgres`. */
    postgresUrl: string;
  }
}

const FORGOTTEN_AFTER_MS = 3_600_000;

/** Starts one PostgreSQL for the whole run: 18, or 15 with FLORIN_TEST_POSTGRES=15. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const version = process.env.FLORIN_TEST_POSTGRES === '15' ? 15 : 18;
  const prefix = `florin-test-${version}-`;
  await sweep(prefix, version);
  const folder = await mkdtemp(path.join(tmpdir(), prefix));
  const remove = () => rm(folder, { recursive: true, force: true });
  // As root the server runs under another account, which has to pass.
  await chmod(folder, 0o755);
  const dataDir = path.join(folder, 'postgres');
  const postgres = await startPostgres({ dataDir, version, durable: false }).catch(async (error: unknown) => {
    await remove();
    throw error;
  });
  project.provide('postgresUrl', postgres.url);
  return async () => {
    await postgres.stop();
    // Where the account cannot pass through the temporary folder, the data lies elsewhere.
    await rm(postgres.dataDir, { recursive: true, force: true });
    await remove();
  };
}

/** A run that was killed leaves its server or its folder behind: a later one clears them. Living runs refuse. */
async function sweep(prefix: string, version: 18 | 15): Promise<void> {
  const names = (await readdir(tmpdir())).filter((name) => name.startsWith(prefix));
  for (const folder of names.map((name) => path.join(tmpdir(), name))) {
    const dataDir = path.join(folder, 'postgres');
    const hasServer = existsSync(path.join(dataDir, 'cluster', 'postmaster.pid'));
    // Without a server it may be of a run that is only beginning.
    if (!hasServer && (await ageMs(folder)) < FORGOTTEN_AFTER_MS) continue;
    const left = await startPostgres({ dataDir, version, durable: false }).catch(() => undefined);
    if (left === undefined) continue;
    await left.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Since the folder was made; none where another run has just removed it. */
async function ageMs(folder: string): Promise<number> {
  const found = await stat(folder).catch(() => undefined);
  return found === undefined ? 0 : Date.now() - found.mtimeMs;
}
