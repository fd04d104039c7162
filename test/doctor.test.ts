import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DoctorCheck } from '../packages/server/src/operator.ts';
import { createDatabase } from './database.ts';
import { florin } from './florin-command.ts';

// Each command is a process of its own.

let database: Awaited<ReturnType<typeof createDatabase>>;
beforeAll(async () => {
  database = await createDatabase({ isEmpty: true });
});
afterAll(async () => await database.drop());

const folder = mkdtempSync(path.join(tmpdir(), 'florin-doctor-'));
const KEY = 'ab'.repeat(32);

async function examine(env: Record<string, string>, ...words: string[]) {
  const { code, stdout } = await florin(['doctor', '--json', ...words], {
    env: { FLORIN_DATA_DIR: folder, ...env },
  });
  const checks: DoctorCheck[] = JSON.parse(stdout);
  return { code, of: (name: DoctorCheck['check']) => checks.find(({ check }) => check === name), checks };
}

test('where nothing is there yet, all is well, and nothing is made', async () => {
  const { code, checks } = await examine({ FLORIN_DATA_DIR: path.join(folder, 'not', 'yet') }, '--port', '0');
  expect(checks.map(({ check }) => check)).toEqual(
    'node port database migrations keys clock disk'.split(' '),
  );
  expect(checks.filter(({ status }) => status === 'failed')).toEqual([]);
  expect(code).toBe(0);
  expect(() => writeFileSync(path.join(folder, 'not', 'x'), '')).toThrow('ENOENT');
});

test('a port that is taken is named with what to do', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  const address = server.address();
  const port = typeof address === 'object' ? String(address?.port) : '';
  const taken = await examine({ FLORIN_PORT: port });
  server.close();
  expect(taken.code).toBe(1);
  expect(taken.of('port')).toMatchObject({
    status: 'failed',
    advice: expect.stringContaining('FLORIN_PORT'),
  });
});

test('a database is looked into: not migrated, then well, then with another key; and none that answers', async () => {
  const env = { DATABASE_URL: database.url, FLORIN_MASTER_KEY: KEY };
  const bare = await examine(env, '--port', '0');
  expect([bare.code, bare.of('migrations')]).toMatchObject([1, { advice: expect.any(String) }]);
  expect(bare.of('migrations')?.found).toContain('florin migrate');
  expect((await florin(['migrate'], { env })).code).toBe(0);
  const well = await examine(env, '--port', '0');
  expect(well.checks.filter(({ status }) => status === 'failed')).toEqual([]);
  expect(well.of('database')?.found).toMatch(/^PostgreSQL \d+/);
  expect(well.of('clock')?.found).toMatch(/^\d+ ms/);
  expect((await florin(['merchants', 'list'], { env })).code).toBe(0);
  const other = await examine({ ...env, FLORIN_MASTER_KEY: 'cd'.repeat(32) }, '--port', '0');
  expect(other.of('keys')).toMatchObject({ status: 'failed', found: expect.stringContaining('another') });
  const away = await examine(
    { ...env, DATABASE_URL: 'postgres://florin:secret@127.0.0.1:1/x' },
    '--port',
    '0',
  );
  expect(away.of('database')).toMatchObject({ status: 'failed' });
  expect(JSON.stringify(away.checks)).not.toContain('secret');
});

test('a key file of the wrong form, or open to others, is named', async () => {
  const at = path.join(folder, 'keys');
  mkdirSync(at);
  const file = path.join(at, 'master.key');
  writeFileSync(file, 'short');
  const env = { FLORIN_DATA_DIR: at };
  expect((await examine(env, '--port', '0')).of('keys')).toMatchObject({ status: 'failed' });
  writeFileSync(file, KEY);
  chmodSync(file, 0o644);
  expect((await examine(env, '--port', '0')).of('keys')).toMatchObject({
    status: 'warning',
    advice: expect.stringContaining('chmod 600'),
  });
});

test('for people it is a line each, in 80 columns, and a wrong setting is one line', async () => {
  const { stdout, code } = await florin(['doctor', '--port', '0'], { env: { FLORIN_DATA_DIR: folder } });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^node +ok +Node \d+/);
  const wrong = await florin(['doctor', '--port', 'x']);
  expect([wrong.code, wrong.stdout]).toEqual([1, '']);
  expect(wrong.stderr.trimEnd().split('\n')).toHaveLength(1);
});
