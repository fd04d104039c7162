import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Florin } from '@florin/sdk';
import { type Child, startChild } from '../child.ts';
import type { RunOptions } from '../rows.ts';
import { type CommandTimes, measureCommands } from './commands.ts';
import { type PackagedSandbox, startPackaged } from './packaged.ts';

/** What a sandbox says when it is ready. */
export interface Ready {
  readyMs: number;
  firstStart: boolean;
  databaseFolder?: string;
}

export interface Sandbox extends Child, Ready {}

/** A place for a sandbox's data, on which it can be started again and again. */
export interface SandboxPlace {
  /** Answers when it is ready. One at a time. */
  start(env?: Record<string, string>): Promise<Sandbox>;
  /** The same, by the program of the package `florin`. */
  startPackaged(program: string): Promise<PackagedSandbox>;
  /** What commands of the program take while its sandbox runs. */
  measureCommands(program: string): Promise<CommandTimes>;
  /** Whether the sandbox still makes the first day that it was started with. */
  hasStoryToTell(): boolean;
  /** A client of the sandbox's own merchant, once it has been started. */
  client(): Promise<Florin>;
}

export async function withSandboxPlace<Result>(
  { profileDir }: Pick<RunOptions, 'profileDir'>,
  use: (place: SandboxPlace) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(path.join(tmpdir(), 'florin-bench-'));
  // As root the database runs under another account, which has to pass.
  await chmod(folder, 0o755);
  const data = path.join(folder, 'data');
  // Node reads the certificates of a machine's own at the start, which takes 2 MB here and nothing elsewhere.
  const ownEnv = { FLORIN_DATA_DIR: data, FLORIN_PORT: '0', DATABASE_URL: '', NODE_EXTRA_CA_CERTS: '' };
  let databaseFolder: string | undefined;
  try {
    return await use({
      async start(env = {}) {
        const child = startChild('start/sandbox.ts', {
          env: { ...env, ...ownEnv },
          profileDir,
        });
        const ready = await child.next<Ready>();
        databaseFolder = ready.databaseFolder;
        return { ...child, ...ready };
      },
      startPackaged: (program) => startPackaged(program, ownEnv),
      hasStoryToTell: () => existsSync(path.join(data, 'story.pending')),
      measureCommands: (program) => measureCommands(program, ownEnv),
      async client() {
        const made: { base_url: string; api_key: string; secret_key: string } = JSON.parse(
          await readFile(path.join(data, 'sandbox.json'), 'utf8'),
        );
        return new Florin({ baseUrl: made.base_url, apiKey: made.api_key, secretKey: made.secret_key });
      },
    });
  } finally {
    if (databaseFolder !== undefined) await rm(databaseFolder, { recursive: true, force: true });
    await rm(folder, { recursive: true, force: true });
  }
}
