import { existsSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { sql } from 'kysely';
import { DataFolder } from '../data-folder.ts';
import type { Config } from '../platform/config.ts';
import { CLOCKS_AGREE_WITHIN_MS, Clock, codeOf, connect, type Db } from '../platform/db/index.ts';
import { pendingMigrations } from '../platform/db/migrations/index.ts';
import { Vault } from '../platform/secrets/index.ts';
import { runChecks } from './run-checks.ts';

/** What was checked, what was found, and what to do about it; `advice` is null where nothing is to be done. */
export interface DoctorCheck {
  check: 'node' | 'port' | 'database' | 'migrations' | 'keys' | 'clock' | 'disk';
  status: 'ok' | 'warning' | 'failed';
  found: string;
  advice: string | null;
}

type Finding = Omit<DoctorCheck, 'check'>;

const NODE_NEEDED = [22, 19] as const;
const POSTGRES_NEEDED = 15;
const MEBIBYTE = 1_048_576;
const DISK_WARNING_MIB = 2_048;
const DISK_FAILED_MIB = 256;
const OTHERS = 0o077;

const ok = (found: string): Finding => ({ status: 'ok', found, advice: null });
const warning = (found: string, advice: string): Finding => ({ status: 'warning', found, advice });
const failed = (found: string, advice: string): Finding => ({ status: 'failed', found, advice });

/** Looks at everything that a start needs, and changes nothing. */
export async function examine(config: Config): Promise<DoctorCheck[]> {
  const folder = new DataFolder(config.dataDir);
  const url = folder.databaseUrlOf(config);
  const db = url === undefined ? undefined : connect({ url, poolSize: 1 });
  try {
    return await runChecks<DoctorCheck['check'], Finding>(
      [
        ['node', checkNode],
        ['port', () => checkPort(config, folder)],
        ['database', () => checkDatabase(db)],
        ['migrations', () => checkMigrations(db)],
        ['keys', () => checkKeys(config, folder, db)],
        ['clock', () => checkClock(db)],
        ['disk', () => checkDisk(folder)],
      ],
      failed,
    );
  } finally {
    await db?.destroy();
  }
}

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isEnough = major > NODE_NEEDED[0] || (major === NODE_NEEDED[0] && minor >= NODE_NEEDED[1]);
  const found = `Node ${process.versions.node}`;
  return isEnough ? ok(found) : failed(found, `Install Node ${NODE_NEEDED.join('.')} or newer.`);
}

async function checkPort({ host, port, portGiven }: Config, folder: DataFolder): Promise<Finding> {
  const running = folder.readAlive();
  if (running !== undefined) return ok(`the sandbox runs at ${running.base_url} (process ${running.pid})`);
  const code = await tryPort(host, port);
  const place = `${host} port ${port}`;
  if (code === undefined) return ok(`${place} is free`);
  if (code === 'EADDRINUSE' && !portGiven) return warning(`${place} is taken`, 'The next free port is used.');
  return failed(`${place} cannot be used: ${code}`, 'Set FLORIN_PORT or FLORIN_HOST to another one.');
}

/** @returns the error's code; undefined where it is free */
async function tryPort(host: string, port: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const server = createServer();
  server.once('error', (error) => resolve(codeOf(error) ?? error.message));
  server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  return await promise;
}

const NO_DATABASE = ok('not checked: florin start brings its own, and DATABASE_URL is not set');

async function checkDatabase(db: Db | undefined): Promise<Finding> {
  if (db === undefined) return NO_DATABASE;
  const { rows } = await sql<{
    version: string;
  }>`select current_setting('server_version') as version`.execute(db);
  const version = rows[0]?.version ?? '';
  if (Number.parseInt(version, 10) >= POSTGRES_NEEDED) return ok(`PostgreSQL ${version}`);
  return failed(`PostgreSQL ${version}`, `Upgrade it to ${POSTGRES_NEEDED} or newer.`);
}

async function checkMigrations(db: Db | undefined): Promise<Finding> {
  if (db === undefined) return NO_DATABASE;
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  const pending = await pendingMigrations(rows.map(({ name }) => name));
  if (pending.length === 0) return ok(`all ${rows.length} are applied`);
  return failed(`${pending.length} are missing`, 'Run florin migrate.');
}

async function checkKeys(config: Config, folder: DataFolder, db: Db | undefined): Promise<Finding> {
  const file = folder.file('master.key');
  const key = config.masterKey ?? folder.readMasterKey();
  if (key === undefined) {
    if (config.databaseUrl === undefined) return ok(`none yet: the first start makes ${file}`);
    return failed('there is no master key', 'Set FLORIN_MASTER_KEY to the one of this database.');
  }
  if (db !== undefined) await Vault.check(db, key);
  if (config.masterKey === undefined && (statSync(file).mode & OTHERS) !== 0)
    return warning(`${file} can be read by others`, `Run chmod 600 ${file}`);
  const opened = db === undefined ? 'is 32 bytes' : 'opens the secrets of the database';
  return ok(`the master key ${opened}`);
}

async function checkClock(db: Db | undefined): Promise<Finding> {
  if (db === undefined) return ok('not compared: there is no database to compare it with');
  const clock = new Clock();
  await clock.measure(db);
  const found = `${Math.abs(clock.offsetMs)} ms from the database's`;
  if (Math.abs(clock.offsetMs) <= CLOCKS_AGREE_WITHIN_MS) return ok(found);
  return failed(found, "Set this machine's clock, or the database's, by NTP.");
}

async function checkDisk(folder: DataFolder): Promise<Finding> {
  let place = folder.path;
  while (!existsSync(place)) place = path.dirname(place);
  const { bavail, bsize } = await statfs(place);
  const free = Math.floor((bavail * bsize) / MEBIBYTE);
  const found = `${free} MiB free at ${place}`;
  if (free >= DISK_WARNING_MIB) return ok(found);
  const advice = 'Make room, or set FLORIN_DATA_DIR to another disk.';
  return free < DISK_FAILED_MIB ? failed(found, advice) : warning(found, advice);
}
