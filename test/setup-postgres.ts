import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { startPostgres } from '../packages/server/src/platform/postgres/index.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Administrator's address of the run's PostgreSQL, database `postgres`. */
    postgresUrl: string;
  }
}

/** Starts one PostgreSQL for the whole run: 18, or 15 with FLORIN_TEST_POSTGRES=15. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const version = process.env.FLORIN_TEST_POSTGRES === '15' ? 15 : 18;
  const folder = await mkdtemp(path.join(tmpdir(), 'florin-test-'));
  const postgres = await startPostgres({ dataDir: path.join(folder, 'postgres'), version, durable: false });
  project.provide('postgresUrl', postgres.url);
  return async () => {
    await postgres.stop();
    // As root the data may lie outside the folder that was asked for.
    await rm(postgres.dataDir, { recursive: true, force: true });
    await rm(folder, { recursive: true, force: true });
  };
}
