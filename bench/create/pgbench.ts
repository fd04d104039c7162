import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Script } from './script.ts';

/** What `pgbench --version` says; undefined where it is not installed. */
export function pgbenchVersion(): string | undefined {
  const { status, stdout } = spawnSync('pgbench', ['--version'], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

/**
 * pgbench has one session a client. Here it commits asynchronously, as the nonce's does, and each transaction turns
 * that off for itself, in the same trip as its `begin`.
 */
function fileOf({ statements }: Script): string {
  const trips = [...Map.groupBy(statements, ({ trip }) => trip).values()];
  const lines = trips.flatMap((trip) => {
    const own = trip.flatMap(({ text, async }) => [
      `${text};${async ? ' -- asynchronous commit' : ''}`,
      ...(text === 'begin' ? ['set local synchronous_commit = on;'] : []),
    ]);
    return own.length === 1 ? own : ['\\startpipeline', ...own, '\\endpipeline'];
  });
  return ['\\set n :n + 1', ...lines, ''].join('\n');
}

/** Runs the script with that many clients. @returns transactions a second @throws where pgbench refuses it */
export async function runPgbench(
  url: string,
  script: Script,
  { clients, seconds }: { clients: number; seconds: number },
): Promise<number> {
  const folder = await mkdtemp(path.join(tmpdir(), 'florin-pgbench-'));
  const file = path.join(folder, 'create.sql');
  try {
    await writeFile(file, fileOf(script));
    const constants = Object.entries({ n: '0', ...script.constants });
    const args = ['-n', '-M', 'prepared', '-c', String(clients), '-T', String(seconds), '-f', file];
    const output = await run([...args, ...constants.map(([name, text]) => `-D${name}=${text}`)], url, script);
    const failed = /number of failed transactions: (\d+)/.exec(output)?.[1];
    const rate = /tps = ([\d.]+)/.exec(output)?.[1];
    if (rate === undefined || Number(failed ?? 0) > 0) throw new Error(`pgbench failed:\n${output}`);
    return Number(rate);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function run(args: readonly string[], url: string, { session }: Script): Promise<string> {
  const { hostname, port, username, password, pathname } = new URL(url);
  const env = {
    ...process.env,
    PGHOST: hostname,
    PGPORT: port,
    PGUSER: username,
    PGPASSWORD: password,
    PGDATABASE: pathname.slice(1),
    PGOPTIONS: session.replace('synchronous_commit=on', 'synchronous_commit=off'),
  };
  const child = spawn('pgbench', args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const collect = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve(output) : reject(new Error(`pgbench:\n${output}`))));
  });
}
