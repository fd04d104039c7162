import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { type Postgres, startPostgres } from '../../packages/embedded-postgres/src/index.ts';

export type Session = pg.Client;

/** A running server. */
export type Place = Pick<Postgres, 'url' | 'pid' | 'stop'>;

/** Children of a process, of which a PostgreSQL has one for each connection. */
function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself in between.
  }
}

export interface DatabaseOptions {
  /** Makes the place for the data in the run's folder, and clears it away after the last stop. */
  prepare?: (folder: string) => Promise<void>;
  cleanUp?: (folder: string) => Promise<void>;
}

/** From where databases are made and dropped. */
const ADMIN = 'template1';

/** A durable PostgreSQL of a run's own, which is killed as if its machine had lost power, and started again. */
export class DatabaseServer {
  readonly folder: string;
  kills = 0;
  /** Where the first server's data lies. */
  readonly dataFolder: string;
  readonly #options: DatabaseOptions;
  #postgres: Place;

  private constructor(folder: string, postgres: Postgres, options: DatabaseOptions) {
    this.folder = folder;
    this.dataFolder = postgres.dataDir;
    this.#options = options;
    this.#postgres = postgres;
  }

  static async open(options: DatabaseOptions = {}): Promise<DatabaseServer> {
    const folder = await mkdtemp(path.join(tmpdir(), 'florin-faults-'));
    // As root the server runs under another account, which has to pass.
    await chmod(folder, 0o755);
    await options.prepare?.(folder);
    return new DatabaseServer(folder, await start(folder), options);
  }

  /** The superuser's address, past every proxy. It changes with each start. */
  get url(): string {
    return this.#postgres.url;
  }

  get pid(): number {
    return this.#postgres.pid;
  }

  /** kill -9 of the server and of every process of it, in the middle of whatever they do. */
  async kill(): Promise<void> {
    this.kills += 1;
    const all = [this.#postgres.pid, ...childrenOf(this.#postgres.pid)];
    for (const pid of all) killNow(pid);
    // Lets go of the folder: there is nothing left to stop.
    await this.#postgres.stop();
  }

  /** In an orderly way, until `start`. */
  stop(): Promise<void> {
    return this.#postgres.stop();
  }

  moveTo(place: Place): void {
    this.#postgres = place;
  }

  async start(): Promise<void> {
    this.#postgres = await start(this.folder);
  }

  /** Runs one statement as the owner, on a connection of its own. */
  async query<Row extends pg.QueryResultRow>(
    text: string,
    values: unknown[] = [],
    database = 'postgres',
  ): Promise<Row[]> {
    const client = await this.connect(database);
    try {
      return (await client.query<Row>(text, values)).rows;
    } finally {
      await client.end();
    }
  }

  /** A session of its own, to hold locks with. */
  async connect(database = 'postgres'): Promise<pg.Client> {
    const url = new URL(this.url);
    url.pathname = `/${database}`;
    const client = new pg.Client({ connectionString: url.href });
    client.on('error', () => {});
    await client.connect();
    return client;
  }

  /** Makes a copy beside the original, which nobody may be at work on. @returns its address */
  async copy(name: string): Promise<string> {
    await this.#sendAway('postgres');
    await this.query(`create database ${name} template postgres`, [], ADMIN);
    await this.query('alter database postgres allow_connections true', [], ADMIN);
    return Object.assign(new URL(this.url), { pathname: `/${name}` }).href;
  }

  /** A copy takes the original's name, which is lost. */
  async replaceBy(name: string): Promise<void> {
    await this.drop('postgres');
    await this.query(`alter database ${name} rename to postgres`, [], ADMIN);
  }

  async drop(name: string): Promise<void> {
    await this.query(`drop database ${name} with (force)`, [], ADMIN);
  }

  async #sendAway(name: string): Promise<void> {
    await this.query(`alter database ${name} allow_connections false`, [], ADMIN);
    await this.query(
      'select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1',
      [name],
      ADMIN,
    );
  }

  async close(): Promise<void> {
    await this.#postgres.stop();
    await this.#options.cleanUp?.(this.folder);
    await rm(this.dataFolder, { recursive: true, force: true });
    await rm(this.folder, { recursive: true, force: true });
  }
}

const start = (folder: string) => startPostgres({ dataDir: path.join(folder, 'postgres'), durable: true });
