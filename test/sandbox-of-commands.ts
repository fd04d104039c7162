import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { florin, type Sandbox, startSandbox } from './florin-command.ts';

/** Whether the tests run a second time, on PostgreSQL 15: the command brings its own PostgreSQL 18. */
export const isSecondRun = process.env.FLORIN_TEST_POSTGRES === '15';
if (isSecondRun) console.warn('skipped: florin start runs its own PostgreSQL 18');

const START_MS = 180_000;

/** A folder for the data of a sandbox. */
export function makeDataDir(): string {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'florin-sandbox-'));
  // As root PostgreSQL runs under another account, which has to get in.
  chmodSync(dataDir, 0o755);
  return dataDir;
}

/** Starts a sandbox before the tests of a file, and ends it and deletes its data after them. */
export function useSandbox() {
  let dataDir = '';
  let sandbox: Sandbox | undefined;
  beforeAll(async () => {
    if (isSecondRun) return;
    dataDir = makeDataDir();
    sandbox = await startSandbox(dataDir);
  }, START_MS);
  afterAll(async () => {
    if (isSecondRun) return;
    await sandbox?.stop('SIGTERM');
    rmSync(dataDir, { recursive: true, force: true });
  }, START_MS);
  const command = (words: readonly string[], env: Record<string, string> = {}) =>
    florin(words, { env: { FLORIN_DATA_DIR: dataDir, ...env } });
  return {
    dataDir: () => dataDir,
    /** A file of the data folder, as JSON. */
    read: (file: string) => JSON.parse(readFileSync(path.join(dataDir, file), 'utf8')),
    command,
    /** What a command answers with --json. */
    ask: async <T = unknown>(...words: string[]): Promise<T> => {
      const { code, stdout, stderr } = await command([...words, '--json']);
      expect([code, stderr]).toEqual([0, '']);
      return JSON.parse(stdout);
    },
  };
}
