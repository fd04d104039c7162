import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Florin } from './florin.ts';

const READY_WITHIN_MS = 60_000;
const STOPPED_WITHIN_MS = 15_000;
/** Of a failed start's own words. */
const COMPLAINT_MAX = 2_000;

export interface TestSandboxOptions {
  /** The file of the `florin` command; by default that of the package `florin` installed in this folder or above it. */
  command?: string;
  /** Default 60,000: the first start on a machine prepares a database. */
  readyWithinMs?: number;
}

/** A sandbox for one run of tests. */
export interface TestSandbox extends AsyncDisposable {
  baseUrl: string;
  apiKey: string;
  /** Signs requests, and the webhooks that the sandbox sends. */
  secretKey: string;
  /** A client of the sandbox's store, with `testHelpers` to play payers and move the clock. */
  florin: Florin;
  /** Ends the sandbox and deletes its data. */
  stop(): Promise<void>;
}

/**
 * Starts a real sandbox with its own data folder, for the tests of a shop. Only the chains are simulated.
 * It needs the package `florin` as a development dependency. Settings of the environment (`DATABASE_URL`, `FLORIN_…`) do not
 * reach it, so that tests never touch a database of yours.
 *
 * @example
 * ```ts
 * import { startSandbox } from '@florin/sdk/testing';
 *
 * await using sandbox = await startSandbox();
 * const session = await sandbox.florin.checkout.sessions.create({ amount: 499, currency: 'USD' });
 * await sandbox.florin.testHelpers.checkout.sessions.pay(session.id, { currency: 'USDT', network: 'trc20' });
 * ```
 */
export async function startSandbox(options: TestSandboxOptions = {}): Promise<TestSandbox> {
  const command = options.command ?? findCommand(process.cwd());
  const folder = mkdtempSync(path.join(tmpdir(), 'florin-test-'));
  const words = [command, 'start', '--json', '--port', '0', '--data-dir', path.join(folder, 'data')];
  const child = spawn(process.execPath, words, {
    env: cleanEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const end = () => child.kill('SIGTERM');
  process.once('exit', end);
  const stop = async () => {
    process.off('exit', end);
    await ended(child);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const { base_url: baseUrl, credentials_file } = await ready(
      child,
      options.readyWithinMs ?? READY_WITHIN_MS,
    );
    const { api_key: apiKey, secret_key: secretKey } = JSON.parse(readFileSync(credentials_file, 'utf8'));
    const florin = new Florin({ baseUrl, apiKey, secretKey });
    return { baseUrl, apiKey, secretKey, florin, stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The command that npm links in this folder or one above. */
function findCommand(from: string): string {
  for (let folder = from; ; folder = path.dirname(folder)) {
    const candidate = path.join(folder, 'node_modules', '.bin', 'florin');
    if (existsSync(candidate)) return realpathSync(candidate);
    if (folder === path.dirname(folder))
      throw new Error('the package florin is not installed here: npm install --save-dev florin');
  }
}

const cleanEnvironment = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(FLORIN_|DATABASE_URL$)/.test(name)));

interface Facts {
  base_url: string;
  credentials_file: string;
}

/** The line that the command prints when it is ready. Rejects with what it said where it ends before, or is too late. */
async function ready(child: ChildProcess, withinMs: number): Promise<Facts> {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('the sandbox has no output');
  let complaint = '';
  stderr.on('data', (piece: Buffer) => {
    complaint = (complaint + piece.toString()).slice(-COMPLAINT_MAX);
  });
  return await new Promise<Facts>((resolve, reject) => {
    const refuse = (what: string) => reject(new Error(`the sandbox ${what}: ${complaint.trim()}`));
    const timer = setTimeout(() => refuse(`was not ready within ${withinMs} ms`), withinMs);
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      refuse(`ended with ${code}`);
    });
    createInterface(stdout).once('line', (line) => {
      clearTimeout(timer);
      resolve(JSON.parse(line));
    });
  });
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), STOPPED_WITHIN_MS);
  await closed;
  clearTimeout(late);
}
