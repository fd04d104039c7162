import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { SUPERUSER } from './cluster.ts';
import type { Layout } from './placement.ts';
import { disownPidFile, isPostmasterOf, readPidFile, stopPostmaster } from './postmaster.ts';

/** How long a leftover server may start or recover before it is stopped. */
const PATIENCE_MS = 60_000;
const POLL_MS = 100;

const CANNOT_CONNECT_NOW = '57P03';

export interface Server {
  pid: number;
  port: number;
}

/** Address of the `postgres` database. The password is hexadecimal: nothing in it needs escaping. */
export function urlOf(port: number, password: string): string {
  return `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/postgres`;
}

/**
 * Takes over the server that a killed parent left running on this cluster. One that does not answer, or runs with
 * another durability than requested, is stopped; a stale `postmaster.pid` is removed.
 * Undefined: no server runs here any more, so start a new one.
 */
export async function adoptServer(
  layout: Layout,
  password: string,
  durable: boolean,
): Promise<Server | undefined> {
  const found = await readPidFile(layout.cluster);
  if (found === undefined || !(await isPostmasterOf(found.pid, layout.cluster))) {
    await disownPidFile(layout.cluster);
    return undefined;
  }
  const port = await waitForAnswer({ layout, password, durable, pid: found.pid });
  if (port !== undefined) return { pid: found.pid, port };
  await stopPostmaster(found.pid, layout.cluster);
  return undefined;
}

interface Candidate {
  layout: Layout;
  password: string;
  durable: boolean;
  pid: number;
}

async function waitForAnswer(candidate: Candidate): Promise<number | undefined> {
  const deadline = performance.now() + PATIENCE_MS;
  while (performance.now() < deadline && (await isPostmasterOf(candidate.pid, candidate.layout.cluster))) {
    const port = (await readPidFile(candidate.layout.cluster))?.port;
    const answer = port === undefined ? 'later' : await probe(port, candidate);
    if (answer !== 'later') return answer === 'ours' ? port : undefined;
    await sleep(POLL_MS);
  }
  return undefined;
}

async function probe(port: number, candidate: Candidate): Promise<'ours' | 'unfit' | 'later'> {
  try {
    const settings = await readSettings(urlOf(port, candidate.password));
    const fit = settings.folder === candidate.layout.cluster && settings.durable === candidate.durable;
    return fit ? 'ours' : 'unfit';
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    return code === CANNOT_CONNECT_NOW || code === 'ECONNREFUSED' ? 'later' : 'unfit';
  }
}

/** Connects and reads the server's settings. */
export async function readSettings(url: string): Promise<{ folder: string; durable: boolean }> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  // A server that is being stopped cuts the connection between two calls: the call that follows reports it.
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ folder: string; fsync: string }>(
      "SELECT current_setting('data_directory') AS folder, current_setting('fsync') AS fsync",
    );
    return { folder: rows[0]?.folder ?? '', durable: rows[0]?.fsync === 'on' };
  } finally {
    await client.end();
  }
}
