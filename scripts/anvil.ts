import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { createInterface } from 'node:readline';

/** Words of the mnemonic that anvil publishes: its accounts are known to everybody and hold test coins alone. */
export const PUBLIC_TEST_MNEMONIC = 'test test test test test test test test test test test junk';

export const NO_ANVIL =
  'there is no anvil: run npm ci with optional dependencies on Linux x64, ' +
  'or put anvil on the PATH (https://getfoundry.sh)';

export interface AnvilOptions {
  /** 0 takes a free one, which is the default. */
  port?: number;
  /** `safe` is this many blocks behind the newest one, `finalized` twice as many. 32 by default, as on mainnet. */
  slotsInAnEpoch?: number;
}

/** A local Ethereum node on 127.0.0.1 that mines a block for each transaction, until it is told otherwise. */
export interface Anvil {
  url: string;
  pid: number;
  /** Resolves when the process has ended, whoever ended it. */
  ended: Promise<void>;
  stop(): Promise<void>;
}

const START_MS = 20_000;
const STOP_MS = 5_000;

/** The binary of the optional package, else the first `anvil` on the PATH; undefined where there is none. */
export function findAnvil(): string | undefined {
  return [packagedAnvil(), ...onPath('anvil')].find((file) => file !== undefined && isExecutable(file));
}

/**
 * Starts anvil and waits until it answers. It is ended with this process, unless that one is killed.
 * @throws with one line where there is no binary; with the end of its output where it does not come up, as on a port
 * that is taken.
 */
export async function startAnvil({ port = 0, slotsInAnEpoch = 32 }: AnvilOptions = {}): Promise<Anvil> {
  const binary = findAnvil();
  if (binary === undefined) throw new Error(NO_ANVIL);
  const child = spawn(
    binary,
    [
      '--host=127.0.0.1',
      `--port=${port}`,
      '--color=never',
      `--mnemonic=${PUBLIC_TEST_MNEMONIC}`,
      `--slots-in-an-epoch=${slotsInAnEpoch}`,
      '--hardfork=osaka',
      // At most 16,777,216 gas for one transaction, as on mainnet (EIP-7825).
      '--enable-tx-gas-limit',
    ],
    // A session of its own: Ctrl-C in a terminal reaches this process, which then ends anvil in order.
    { stdio: ['ignore', 'pipe', 'pipe'], detached: true },
  );
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  void ended.then(() => process.off('exit', kill));
  const stop = async () => {
    const late = setTimeout(kill, STOP_MS);
    child.kill('SIGTERM');
    await ended;
    clearTimeout(late);
  };
  try {
    const address = await listeningAddress(child);
    return { url: `http://${address}`, pid: child.pid ?? 0, ended, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Reads anvil's output up to `Listening on`, then lets the rest go. */
function listeningAddress(child: ChildProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const output: string[] = [];
  const fail = (cause: string) =>
    reject(new Error(`anvil did not start (${cause}): ${output.slice(-5).join(' ').trim()}`));
  const stuck = setTimeout(() => fail(`silent for ${START_MS / 1_000} s`), START_MS);
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface({ input: stream }).on('line', (line) => {
      if (output.push(line) > 20) output.shift();
      const address = /^Listening on (127\.0\.0\.1:\d+)$/.exec(line)?.[1];
      if (address !== undefined) resolve(address);
    });
  }
  child.once('error', (error) => fail(error.message));
  child.once('close', (code, signal) => fail(signal ?? `exit ${code}`));
  return promise.finally(() => clearTimeout(stuck));
}

function packagedAnvil(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve('@foundry-rs/anvil-linux-amd64/bin/anvil');
  } catch {
    return undefined;
  }
}

function onPath(name: string): string[] {
  return (process.env.PATH ?? '').split(path.delimiter).map((folder) => path.join(folder, name));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
