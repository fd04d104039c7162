import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { NOBODY } from './account.ts';
import { type Postgres, type PostgresOptions, startPostgres } from './index.ts';
import { isPostmasterOf } from './postmaster.ts';

let base: string;
let dataDir: string;
const servers: Postgres[] = [];
const children: ChildProcess[] = [];

beforeAll(async () => {
  base = await mkdtemp(path.join(tmpdir(), 'florin-supervisor-'));
  // As root the server runs under another account, which has to pass.
  await chmod(base, 0o755);
  dataDir = path.join(base, 'data');
});

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

afterAll(() => rm(base, { recursive: true, force: true }));

/** Starts quickly, on the folder all tests share: making a cluster takes a second. */
async function start(options: Partial<PostgresOptions> = {}): Promise<Postgres> {
  const server = await startPostgres({ dataDir, durable: false, ...options });
  servers.push(server);
  return server;
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** A process of its own that starts the server and is killed without a chance to stop it. */
async function startAndKillParent(durable: boolean): Promise<Postgres> {
  const face = new URL('./index.ts', import.meta.url).href;
  const options = JSON.stringify({ dataDir, durable });
  const code = `const { startPostgres } = await import('${face}');
    console.log(JSON.stringify(await startPostgres(${options})));`;
  const parent = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(parent);
  const [line] = await once(parent.stdout, 'data');
  const exited = once(parent, 'exit');
  parent.kill('SIGKILL');
  await exited;
  return JSON.parse(String(line));
}

const clusterOf = (server: Postgres) => path.join(server.dataDir, 'cluster');
const pidFileOf = (server: Postgres) => path.join(clusterOf(server), 'postmaster.pid');

describe('a start', () => {
  test('gives a UTF8 database on loopback alone, without a socket in the file system', async () => {
    const { url } = await start();
    const [settings] = await query(
      url,
      `SELECT current_setting('server_encoding') AS encoding, current_setting('TimeZone') AS zone,
        current_setting('listen_addresses') AS listen, current_setting('unix_socket_directories') AS sockets`,
    );
    expect(settings).toEqual({ encoding: 'UTF8', zone: 'UTC', listen: '127.0.0.1', sockets: '' });
    expect(new URL(url).hostname).toBe('127.0.0.1');
  });

  test('creates a random password, stored in a file for its owner only, and requires it', async () => {
    const { url, dataDir: folder } = await start();
    const file = path.join(folder, 'password');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await readFile(file, 'utf8')).trim()).toBe(new URL(url).password);
    expect(new URL(url).password).toMatch(/^[0-9a-f]{48}$/);
    const wrong = new URL(url);
    wrong.password = 'wrong';
    await expect(query(wrong.href, 'SELECT 1')).rejects.toThrow(/password authentication failed/);
    const [stored] = await query(url, 'SELECT rolpassword FROM pg_authid WHERE rolpassword IS NOT NULL');
    expect(stored?.rolpassword).toMatch(/^SCRAM-SHA-256\$/);
  });

  test('never runs PostgreSQL as root', async () => {
    const { pid } = await start();
    const owner = (await stat(`/proc/${pid}`).catch(() => undefined))?.uid;
    expect(owner).not.toBe(0);
  });

  test('writes the log to its caller, line by line', async () => {
    const lines: string[] = [];
    await start({ onLog: (line) => lines.push(line) });
    expect(lines.filter((line) => line.includes('ready to accept connections'))).toHaveLength(1);
    expect(lines.every((line) => !line.includes('\n'))).toBe(true);
  });

  test('rejects with the end of the log if the server does not start, and releases the folder', async () => {
    const server = await start();
    const file = path.join(clusterOf(server), 'postgresql.auto.conf');
    await server.stop();
    const sound = await readFile(file, 'utf8');
    await writeFile(file, 'no_such_setting = 1\n');
    await expect(start()).rejects.toThrow(
      /did not start[\s\S]*unrecognized configuration parameter "no_such_setting"/,
    );
    await writeFile(file, sound);
    expect((await start()).adopted).toBe(false);
  });

  test('refuses a cluster of another version, and one whose password is lost', async () => {
    const server = await start();
    await server.stop();
    await expect(start({ version: 15 })).rejects.toThrow(/holds data of PostgreSQL 18, not of 15/);
    const file = path.join(server.dataDir, 'password');
    await rename(file, `${file}.away`);
    await expect(start()).rejects.toThrow(/password file .* is missing/);
    await rename(`${file}.away`, file);
  });

  test('refuses a password that is not the one of the cluster, and leaves no server behind', async () => {
    const server = await start();
    await server.stop();
    const file = path.join(server.dataDir, 'password');
    const sound = await readFile(file, 'utf8');
    await writeFile(file, 'another');
    await expect(start()).rejects.toThrow(/refuses the password of .*password authentication failed/);
    await writeFile(file, sound);
    expect((await start()).adopted).toBe(false);
  });
});

describe('a restart', () => {
  test('keeps the data, also after the server was killed', async () => {
    const first = await start({ durable: true });
    await query(first.url, 'CREATE TABLE kept (value int); INSERT INTO kept VALUES (41), (42)');
    await first.stop();
    const second = await start({ durable: true });
    expect(second.dataDir).toBe(first.dataDir);
    await query(second.url, 'INSERT INTO kept VALUES (43)');
    process.kill(second.pid, 'SIGKILL');
    await expect.poll(() => isPostmasterOf(second.pid, clusterOf(second))).toBe(false);
    await second.stop();
    const third = await start({ durable: true });
    const rows = await query(third.url, 'SELECT value FROM kept ORDER BY 1');
    expect(rows.map(({ value }) => value)).toEqual([41, 42, 43]);
  });

  test('ignores a PID file whose number now belongs to another process', async () => {
    const server = await start();
    const file = pidFileOf(server);
    const text = await readFile(file, 'utf8');
    await server.stop();
    // Under the server's own account: of another's process PostgreSQL itself would know that it is none of its.
    const account = process.getuid?.() === 0 ? NOBODY : {};
    const stranger = spawn('/bin/sleep', ['60'], { ...account, cwd: '/' });
    children.push(stranger);
    await once(stranger, 'spawn');
    await writeFile(file, text.replace(/^\d+/, String(stranger.pid)), { mode: 0o600 });
    if (process.getuid?.() === 0) await chmod(file, 0o666);
    expect((await start()).adopted).toBe(false);
    expect(stranger.exitCode).toBeNull();
  });

  test('ignores an empty PID file', async () => {
    const server = await start();
    await server.stop();
    await writeFile(pidFileOf(server), '');
    if (process.getuid?.() === 0) await chmod(pidFileOf(server), 0o666);
    expect((await start()).adopted).toBe(false);
  });
});

describe('a server whose parent was killed', () => {
  test('is adopted by the next start and stopped by its stop', async () => {
    const left = await startAndKillParent(false);
    await query(left.url, 'CREATE TABLE left_behind (value int)');
    const server = await start();
    expect(server).toMatchObject({ adopted: true, pid: left.pid, url: left.url, dataDir: left.dataDir });
    expect(await query(server.url, 'SELECT * FROM left_behind')).toEqual([]);
    await server.stop();
    expect(await isPostmasterOf(left.pid, clusterOf(server))).toBe(false);
    expect((await start()).adopted).toBe(false);
  });

  test('is replaced if it runs without the requested durability', async () => {
    const left = await startAndKillParent(false);
    const server = await start({ durable: true });
    expect(server.adopted).toBe(false);
    expect(server.pid).not.toBe(left.pid);
    expect(await query(server.url, 'SHOW fsync')).toEqual([{ fsync: 'on' }]);
  });
});

describe('a second start on the same folder', () => {
  test('is refused with one line while the first lives', async () => {
    await start();
    const refusal = await start().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(Error);
    expect(String(refusal)).toMatch(/^Error: The data folder \S+ is in use by another running process$/);
  });

  test('concurrent starts never create two servers, even before there is a cluster', async () => {
    const folder = path.join(base, 'race');
    const results = await Promise.allSettled([start({ dataDir: folder }), start({ dataDir: folder })]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  test('succeeds after the first has stopped, whose stop may be called twice', async () => {
    const first = await start();
    await Promise.all([first.stop(), first.stop()]);
    await first.stop();
    expect((await start()).adopted).toBe(false);
  });
});
