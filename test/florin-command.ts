import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { giveInput } from './give-input.ts';
import { FLORIN, FLORIN_SOURCE } from './programs.ts';

const READY_MS = 45_000;
const STOPPED_MS = 10_000;

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface RunOptions {
  /** Added to this process's environment; undefined takes a variable away. */
  env?: Record<string, string | undefined>;
  input?: string;
  /** Program to run the command's sources with; by default this Node runs the bundle of them. */
  node?: string;
  cwd?: string;
}

const programOf = ({ node }: RunOptions) => (node === undefined ? FLORIN : FLORIN_SOURCE);

/** Nothing of the person who runs the tests reaches the command. */
function cleanEnvironment(added: Record<string, string | undefined> = {}): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(FLORIN_|DATABASE_URL$)/.test(name));
  return { ...Object.fromEntries(own), ...added };
}

/** Collects what a process prints. `closed` resolves when it has ended and every byte has arrived. */
function watch(child: ChildProcess): { printed: Finished; closed: Promise<Finished> } {
  const printed: Finished = { code: null, stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk: Buffer) => {
    printed.stdout += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    printed.stderr += chunk.toString();
  });
  const closed = new Promise<Finished>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ ...printed, code }));
  });
  return { printed, closed };
}

/** Runs `florin …` to its end. */
export async function florin(words: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const child = spawn(options.node ?? process.execPath, [programOf(options), ...words], {
    env: cleanEnvironment(options.env),
    cwd: options.cwd,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  giveInput(child.stdin, options.input ?? '');
  return await watch(child).closed;
}

/** Runs commands with a merchant's own key. */
export function florinOf({ baseUrl }: { baseUrl: string }, merchant: { apiKey: string; secretKey: string }) {
  const run = (...words: string[]) =>
    florin(words, {
      env: {
        FLORIN_BASE_URL: baseUrl,
        FLORIN_API_KEY: merchant.apiKey,
        FLORIN_SECRET_KEY: merchant.secretKey,
      },
    });
  /** What a command answers with --json. */
  const ask = async <T>(...words: string[]): Promise<T> => {
    const { code, stdout, stderr } = await run(...words, '--json');
    expect([stderr, code]).toEqual(['', 0]);
    return JSON.parse(stdout);
  };
  return { run, ask };
}

export interface Follower {
  /** What it printed so far. */
  printed: Finished;
  process: ChildProcess;
  /** Sends a signal and waits for the end. */
  stop(signal: NodeJS.Signals): Promise<Finished>;
  /** When it has ended, by itself too. */
  closed: Promise<Finished>;
}

/** Starts `florin …` that goes on until it is stopped. */
export function follow(words: readonly string[], options: RunOptions = {}): Follower {
  const child = spawn(options.node ?? process.execPath, [programOf(options), ...words], {
    env: cleanEnvironment(options.env),
    cwd: options.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { printed, closed } = watch(child);
  const stop = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    return await closed;
  };
  return { printed, process: child, stop, closed };
}

export interface Sandbox {
  baseUrl: string;
  /** What it printed so far. */
  printed: Finished;
  process: ChildProcess;
  /** The embedded PostgreSQL's process. */
  postgresPid: number;
  /** Sends a signal and waits for the end. @returns what it printed, its exit code, and how long the end took */
  stop(signal: NodeJS.Signals): Promise<Finished & { tookMs: number }>;
}

/** `florin start` on a folder, as a person gives it; resolves when it has said that it runs. */
export async function startSandbox(dataDir: string, options: RunOptions = {}): Promise<Sandbox> {
  const words = ['start', '--port', '0', '--data-dir', dataDir];
  const child = spawn(options.node ?? process.execPath, [programOf(options), ...words], {
    env: cleanEnvironment(options.env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { printed, closed } = watch(child);
  const baseUrl = await addressOf(printed, closed);
  return {
    baseUrl,
    printed,
    process: child,
    postgresPid: Number.parseInt(
      readFileSync(path.join(dataDir, 'postgres/cluster/postmaster.pid'), 'utf8'),
      10,
    ),
    stop: async (signal) => {
      const startedAtMs = performance.now();
      child.kill(signal);
      const late = setTimeout(() => child.kill('SIGKILL'), 2 * STOPPED_MS);
      const finished = await closed;
      clearTimeout(late);
      return { ...finished, tookMs: performance.now() - startedAtMs };
    },
  };
}

async function addressOf(printed: Finished, closed: Promise<Finished>): Promise<string> {
  let ended = false;
  void closed.then(() => {
    ended = true;
  });
  await until(() => ended || printed.stdout.includes('Stop with'), READY_MS);
  const address = /Address\s+(\S+)\/api\/v1/.exec(printed.stdout)?.[1];
  if (address === undefined)
    throw new Error(`florin start did not come up:\n${printed.stdout}${printed.stderr}`);
  return address;
}

/** Waits until something holds. @throws after the time */
export async function until(holds: () => boolean | Promise<boolean>, maxMs: number): Promise<void> {
  const deadline = performance.now() + maxMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not within ${maxMs} ms: ${holds.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export { isAlive } from '../packages/server/src/data-folder.ts';
