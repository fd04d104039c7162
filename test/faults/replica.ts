import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chown, readlink, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from '../free-port.ts';
import type { DatabaseServer } from './database-server.ts';
import { type FaultProxy, openFaultProxy } from './proxy.ts';
import type { World } from './world.ts';

const NAME = 'florin_replica';
const STREAMS_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 100;
const STREAMING = `select from pg_stat_replication
  where application_name = $1 and state = 'streaming' and (sync_state = 'sync' or not $2)`;
const CAUGHT_UP = `select from pg_stat_replication
  where application_name = $1 and flush_lsn >= pg_current_wal_flush_lsn()`;

interface Parts {
  url: string;
  child: ChildProcess;
  /** Between the first one and the replica. */
  line: FaultProxy;
}

/** A streaming replica of a world's database. */
export class Replica {
  readonly #world: World;
  readonly #parts: Parts;

  private constructor(world: World, parts: Parts) {
    this.#world = world;
    this.#parts = parts;
  }

  /**
   * Copies the stopped data and starts both.
   *
   * @param isSynchronous every commit of the first one waits for the second
   */
  static async of(world: World, isSynchronous: boolean): Promise<Replica> {
    const { database } = world;
    const folder = path.join(database.folder, 'replica');
    await database.stop();
    // With its owner: PostgreSQL refuses the data of others.
    await promisify(execFile)('cp', ['-a', path.join(database.dataFolder, 'cluster'), folder]);
    await world.startDatabase();
    const line = await openFaultProxy(database.url);
    await makeStandby(folder, line.url);
    const url = new URL(database.url);
    url.port = String(await freePort());
    const child = await launchCluster(database, folder, url.port);
    if (isSynchronous) await database.query(`alter system set synchronous_standby_names = '${NAME}'`);
    await database.query('select pg_reload_conf()');
    await until(database, STREAMING, [NAME, isSynchronous]);
    return new Replica(world, { url: url.href, child, line });
  }

  /** Resolves when it has all that is committed. */
  async catchUp(): Promise<void> {
    await until(this.#world.database, CAUGHT_UP, [NAME]);
  }

  /** From now on nothing more reaches it. */
  fallBehind(): void {
    this.#parts.line.cut();
  }

  /** Makes it the database, which waits for nobody, and sends everybody there. */
  async promote(): Promise<void> {
    this.#world.moveDatabase({
      url: this.#parts.url,
      pid: this.#parts.child.pid ?? 0,
      stop: () => this.close(),
    });
    await this.#world.database.query('select pg_promote()');
  }

  /** Makes it a database of its own, beside the first one. @returns its address */
  async promoteBeside(): Promise<string> {
    const { url } = this.#parts;
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query('select pg_promote()');
    await client.end();
    return url;
  }

  async close(): Promise<void> {
    const { child, line } = this.#parts;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGINT');
    await ended;
    await line.close();
  }
}

async function makeStandby(folder: string, primaryUrl: string): Promise<void> {
  const { hostname, port, username, password } = new URL(primaryUrl);
  const source = `host=${hostname} port=${port} user=${username} password=${password} application_name=${NAME} sslmode=disable gssencmode=disable`;
  const signal = path.join(folder, 'standby.signal');
  await writeFile(signal, '');
  const { uid, gid } = await stat(folder);
  await chown(signal, uid, gid);
  await appendFile(path.join(folder, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);
}

/** The same program as the first one's, under the same account. */
export async function launchCluster(
  database: DatabaseServer,
  folder: string,
  port: string,
): Promise<ChildProcess> {
  const program = await readlink(`/proc/${database.pid}/exe`);
  const { uid, gid } = await stat(folder);
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200'];
  const child = spawn(program, ['-D', folder, '-p', port, ...settings.flatMap((s) => ['-c', s])], {
    cwd: '/',
    env: { LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(process.getuid?.() === 0 ? { uid, gid } : {}),
  });
  process.once('exit', () => child.kill('SIGKILL'));
  const lines: string[] = [];
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stderr as NodeJS.ReadableStream }).on('line', (line) => {
      lines.push(line);
      if (/ready to accept (?:read-only )?connections/.test(line)) resolve();
    });
    child.once('exit', () => reject(new Error(`the copy does not start:\n${lines.join('\n')}`)));
  });
  return child;
}

/** Waits until a query finds something. */
async function until(database: DatabaseServer, query: string, values: unknown[]): Promise<void> {
  for (const end = Date.now() + STREAMS_WITHIN_MS; ; await sleep(LOOK_EVERY_MS)) {
    if ((await database.query(query, values)).length > 0) return;
    if (Date.now() > end) throw new Error('the replica does not keep up');
  }
}
