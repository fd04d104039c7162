import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chown, readlink, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { DatabaseServer } from './database-server.ts';
import type { World } from './world.ts';

const NAME = 'florin_replica';
const STREAMS_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 100;
const STREAMING = `select from pg_stat_replication where application_name = $1 and sync_state = 'sync'`;

/** A streaming replica of a world's database, which every commit waits for. */
export class Replica {
  readonly #world: World;
  readonly #url: string;
  readonly #child: ChildProcess;

  private constructor(world: World, url: string, child: ChildProcess) {
    this.#world = world;
    this.#url = url;
    this.#child = child;
  }

  /** Copies the stopped data, starts both, and has the first one wait for the second. */
  static async of(world: World): Promise<Replica> {
    const { database } = world;
    const folder = path.join(database.folder, 'replica');
    await database.stop();
    // With its owner: PostgreSQL refuses the data of others.
    await promisify(execFile)('cp', ['-a', path.join(database.dataFolder, 'cluster'), folder]);
    await world.startDatabase();
    await makeStandby(folder, database.url);
    const url = new URL(database.url);
    url.port = String(await freePort());
    const child = await launchStandby(database, folder, url.port);
    await database.query(`alter system set synchronous_standby_names = '${NAME}'`);
    await database.query('select pg_reload_conf()');
    await untilStreaming(database);
    return new Replica(world, url.href, child);
  }

  /** Makes it the database, which waits for nobody, and sends everybody there. */
  async promote(): Promise<void> {
    this.#world.moveDatabase({
      url: this.#url,
      pid: this.#child.pid ?? 0,
      stop: () => this.close(),
    });
    await this.#world.database.query('select pg_promote()');
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGINT');
    await ended;
  }
}

async function makeStandby(folder: string, primaryUrl: string): Promise<void> {
  const { hostname, port, username, password } = new URL(primaryUrl);
  const source = `host=${hostname} port=${port} user=${username} password=${password} application_name=${NAME}`;
  const signal = path.join(folder, 'standby.signal');
  await writeFile(signal, '');
  const { uid, gid } = await stat(folder);
  await chown(signal, uid, gid);
  await appendFile(path.join(folder, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);
}

/** The same program as the first one's, under the same account. */
async function launchStandby(database: DatabaseServer, folder: string, port: string): Promise<ChildProcess> {
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
      if (line.includes('ready to accept read-only connections')) resolve();
    });
    child.once('exit', () => reject(new Error(`the replica does not start:\n${lines.join('\n')}`)));
  });
  return child;
}

async function untilStreaming(database: DatabaseServer): Promise<void> {
  for (const until = Date.now() + STREAMS_WITHIN_MS; ; await sleep(LOOK_EVERY_MS)) {
    if ((await database.query(STREAMING, [NAME])).length > 0) return;
    if (Date.now() > until) throw new Error('the replica does not stream');
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
