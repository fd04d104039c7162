import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { migrateAll } from '../packages/server/src/app.ts';

/** What was kept of a database at some moment, to be put back once. */
export interface Backup {
  /** @returns the address of the database that it has become */
  restore(): Promise<string>;
  /** Removes it, and what it became beside the original. */
  remove(): Promise<void>;
}

/** A way in which operators copy a database that nobody uses for the moment. */
export interface WayToCopy {
  name: string;
  /** Whether it takes the original's place, which then is gone. */
  inPlace: boolean;
  backup(url: string, simchainUrl: string): Promise<Backup>;
}

const run = promisify(execFile);

async function session<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const named = (url: string, name: string) => Object.assign(new URL(url), { pathname: `/${name}` }).href;
const nameOf = (url: string) => new URL(url).pathname.slice(1);
const newName = () => `copy_${randomBytes(8).toString('hex')}`;
const drop = (url: string) =>
  session(named(url, 'postgres'), async (admin) => {
    await admin.query(`drop database if exists ${nameOf(url)} with (force)`);
  });

/** Pools of processes that are idle would be in the way; they connect again by themselves. */
async function clone(url: string): Promise<string> {
  const copy = named(url, newName());
  await session(named(url, 'postgres'), async (admin) => {
    await admin.query(`alter database ${nameOf(url)} allow_connections false`);
    try {
      await admin.query('select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1', [
        nameOf(url),
      ]);
      await admin.query(`create database ${nameOf(copy)} template ${nameOf(url)}`);
    } finally {
      await admin.query(`alter database ${nameOf(url)} allow_connections true`);
    }
  });
  return copy;
}

const OUR_TABLES = `
  select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p') and not c.relispartition and n.nspname in ('app', 'public')
    and c.relname not like 'kysely%'`;

/** As text, so that nothing is lost on its way. */
async function copyRows(from: string, to: string): Promise<void> {
  await session(from, (source) =>
    session(to, async (target) => {
      const { rows } = await target.query<{ name: string }>(OUR_TABLES);
      for (const { name } of rows) {
        const read = await source.query<{ all: string | null }>(
          `select json_agg(t)::text as all from ${name} t`,
        );
        await target.query(`truncate ${name}`);
        await target.query(`insert into ${name} select * from json_populate_recordset(null::${name}, $1)`, [
          read.rows[0]?.all ?? '[]',
        ]);
      }
    }),
  );
}

const template: WayToCopy = {
  name: 'a clone by template',
  inPlace: false,
  backup: async (url) => {
    const copy = await clone(url);
    return { restore: async () => copy, remove: () => drop(copy) };
  },
};

const dropSchemas = (url: string) =>
  session(url, (client) =>
    client.query('drop schema public cascade; drop schema app cascade; create schema public'),
  );

const rowsByHand = ({ name, withTables }: { name: string; withTables: boolean }): WayToCopy => ({
  name,
  inPlace: true,
  backup: async (url, simchainUrl) => {
    const kept = await clone(url);
    const restore = async () => {
      if (withTables) await dropSchemas(url);
      await migrateAll(url, simchainUrl);
      await copyRows(kept, url);
      return url;
    };
    return { restore, remove: () => drop(kept) };
  },
});

/** With `--clean` it tries in vain to drop the keys of partitions, before it drops them with their tables. */
function passOver(error: unknown): void {
  const text = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
  const faults = text.split('\n').filter((line) => line.startsWith('pg_restore: error:'));
  const isHarmless = (line: string) => line.includes('cannot drop inherited constraint');
  if (faults.length === 0 || !faults.every(isHarmless)) throw error;
}

const dump = ({ inPlace }: { inPlace: boolean }): WayToCopy => ({
  name: `pg_restore ${inPlace ? '--clean in place' : 'under another name'}`,
  inPlace,
  backup: async (url) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'florin-dump-'));
    const file = path.join(folder, 'dump');
    await run('pg_dump', ['--format=custom', `--file=${file}`, url]);
    const copy = inPlace ? url : named(url, newName());
    const restore = async () => {
      if (!inPlace) {
        await session(named(url, 'postgres'), (admin) => admin.query(`create database ${nameOf(copy)}`));
      }
      const options = inPlace ? ['--clean', '--if-exists'] : [];
      await run('pg_restore', [...options, `--dbname=${copy}`, file]).catch(passOver);
      return copy;
    };
    const remove = async () => {
      await rm(folder, { recursive: true, force: true });
      if (!inPlace) await drop(copy);
    };
    return { restore, remove };
  },
});

/** Why the programs on this machine cannot dump that server; undefined where they can. */
export function whyNoDump(serverMajor: number): string | undefined {
  try {
    const major = Number(/(\d+)\./.exec(execFileSync('pg_dump', ['--version']).toString())?.[1]);
    return major >= serverMajor ? undefined : `pg_dump ${major} does not read PostgreSQL ${serverMajor}`;
  } catch {
    return 'there is no pg_dump on the PATH';
  }
}

export const WAYS_WITHOUT_PROGRAMS: readonly WayToCopy[] = [
  template,
  rowsByHand({ name: 'tables made anew in place', withTables: true }),
  rowsByHand({ name: 'old rows in the same tables', withTables: false }),
];
export const WAYS_BY_DUMP: readonly WayToCopy[] = [dump({ inPlace: false }), dump({ inPlace: true })];
