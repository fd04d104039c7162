import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { createJournal, factsOfWords, writeKeyFile } from '../../packages/signer/src/index.ts';
import { policyText } from '../../packages/signer/src/test-policy.ts';
import { FLORIN } from '../programs.ts';

export const WORDS = `${'abandon '.repeat(23)}art`;
export const PASSPHRASE = 'correct horse battery';

/** A folder with all that `florin signer run` takes. */
export interface SignerFolder {
  folder: string;
  socket: string;
  journal: string;
  passphraseFile: string;
  keyFile: string;
  policy: string;
}

export async function makeSignerFolder(): Promise<SignerFolder> {
  const folder = mkdtempSync(path.join(tmpdir(), 'florin-signer-'));
  const files = {
    folder,
    socket: path.join(folder, 'signer.sock'),
    journal: path.join(folder, 'signer.journal'),
    passphraseFile: path.join(folder, 'passphrase'),
    keyFile: path.join(folder, 'keys.json'),
    policy: path.join(folder, 'policy.json'),
  };
  writeFileSync(files.passphraseFile, `${PASSPHRASE}\n`, { mode: 0o600 });
  writeFileSync(files.policy, JSON.stringify(policyText()), { mode: 0o600 });
  await writeKeyFile(files.keyFile, WORDS, PASSPHRASE);
  createJournal(files.journal, factsOfWords(WORDS).fingerprint, Date.now());
  return files;
}

export interface SignerProcess {
  pid: number;
  /** What it wrote on standard error. */
  log: string[];
  /** How it ended. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** `florin signer run`; resolves when it says that it listens. @throws with its words where it does not */
export async function startSigner(
  files: SignerFolder,
  env: Record<string, string> = {},
): Promise<SignerProcess> {
  const { keyFile, passphraseFile, policy, journal, socket } = files;
  const flags = { keyFile, passphraseFile, policy, journal };
  const words = Object.entries(flags).flatMap(([name, file]) => [
    `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    file,
  ]);
  const child = spawn(
    process.execPath,
    [FLORIN, 'signer', 'run', ...words, '--listen', `unix:${socket}`, '--json'],
    {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const log: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => void log.push(line));
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  createInterface({ input: child.stdout }).once('line', () => resolve());
  void ended.then(() => reject(new Error(log.join('\n'))));
  await promise;
  return {
    pid: child.pid ?? 0,
    log,
    ended,
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      return await ended;
    },
  };
}
