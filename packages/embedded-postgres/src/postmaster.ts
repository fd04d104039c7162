import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/** The content of a running server's `postmaster.pid`. */
interface PidFile {
  pid: number;
  port: number | undefined;
}

const POLL_MS = 25;

/** A fast shutdown waits for a checkpoint; after this time an immediate one follows. */
const FAST_SHUTDOWN_MS = 30_000;
const IMMEDIATE_SHUTDOWN_MS = 10_000;

/** Reads `postmaster.pid`; undefined where there is none or it holds no process id yet. */
export async function readPidFile(cluster: string): Promise<PidFile | undefined> {
  const text = await readFile(pidFileOf(cluster), 'utf8').catch(() => '');
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid < 1) return undefined;
  const port = Number(lines[3]);
  return { pid, port: Number.isInteger(port) && port > 0 ? port : undefined };
}

/** Whether the process is a live PostgreSQL of this cluster, and not another process with a reused PID. */
export async function isPostmasterOf(pid: number, cluster: string): Promise<boolean> {
  const [program, ...args] = await commandLine(pid);
  return program !== undefined && path.basename(program) === 'postgres' && args.includes(cluster);
}

const FOLDER_FLAG = ' -D ';
const PORT_FLAG = / -p \d/;

/** Empty for a process that is gone, or a zombie. */
async function commandLine(pid: number): Promise<string[]> {
  if (process.platform === 'linux') {
    const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return text.split('\0').filter((part) => part !== '');
  }
  const found = await promisify(execFile)('/bin/ps', ['-ww', '-o', 'command=', '-p', String(pid)]).catch(
    () => undefined,
  );
  // `ps` does not say where an argument ends: the folder is looked for between the flags we start with.
  const line = found?.stdout.trim() ?? '';
  const programEnd = line.indexOf(FOLDER_FLAG);
  const rest = line.slice(programEnd + FOLDER_FLAG.length);
  const folderEnd = rest.search(PORT_FLAG);
  return programEnd < 1 || folderEnd === -1 ? [] : [line.slice(0, programEnd), rest.slice(0, folderEnd)];
}

/**
 * Takes a stale process id out of `postmaster.pid`, which otherwise stops a start whenever the number now belongs
 * to a stranger. Our own number goes in instead, which PostgreSQL passes over as its parent's, because the rest
 * of the file lets it find backends that outlived their server and still write to the data.
 */
export async function disownPidFile(cluster: string): Promise<void> {
  const text = await readFile(pidFileOf(cluster), 'utf8').catch(() => undefined);
  if (text === undefined) return;
  const file = await open(pidFileOf(cluster), 'r+');
  try {
    await file.truncate(0);
    await file.write([String(process.pid), ...text.split('\n').slice(1)].join('\n'), 0);
  } finally {
    await file.close();
  }
}

/**
 * Fast shutdown: disconnects clients and writes a checkpoint. If that takes too long, an immediate one,
 * after which the next start recovers from the log.
 * @throws if the server still runs after both.
 */
export async function stopPostmaster(pid: number, cluster: string): Promise<void> {
  if (await signalAndWait({ pid, cluster }, 'SIGINT', FAST_SHUTDOWN_MS)) return;
  if (await signalAndWait({ pid, cluster }, 'SIGQUIT', IMMEDIATE_SHUTDOWN_MS)) return;
  throw new Error(`PostgreSQL (process ${pid}) does not stop`);
}

async function signalAndWait(
  { pid, cluster }: { pid: number; cluster: string },
  signal: NodeJS.Signals,
  waitMs: number,
): Promise<boolean> {
  const deadline = performance.now() + waitMs;
  if (!(await isPostmasterOf(pid, cluster))) return true;
  kill(pid, signal);
  while (performance.now() < deadline) {
    if (!(await isPostmasterOf(pid, cluster))) return true;
    await sleep(POLL_MS);
  }
  return false;
}

/**
 * Stops the server if this process exits without having stopped it (an uncaught error). Returns a function to undo this.
 * SIGKILL cannot be handled; then the next start adopts the server.
 */
export function signalAtExit(pid: number, cluster: string): () => void {
  const onExit = () => {
    // Still the same server? Its file goes when it ends, and the number may long belong to somebody else.
    const file = pidFileOf(cluster);
    if (existsSync(file) && Number.parseInt(readFileSync(file, 'utf8'), 10) === pid) kill(pid, 'SIGINT');
  };
  process.once('exit', onExit);
  return () => void process.off('exit', onExit);
}

/** Sends a signal; a process that is already gone is no error. */
function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function pidFileOf(cluster: string): string {
  return path.join(cluster, 'postmaster.pid');
}
