import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ConfigError } from './platform/config.ts';
import type { SandboxCredentials } from './sandbox/index.ts';

const SECRET_MODE = 0o600;
const KEY_BYTES = 32;

/** Where a running sandbox's databases are: how the CLI finds it. */
export interface RunningSandbox {
  pid: number;
  base_url: string;
  database_url: string;
  simchain_url: string | null;
}

/** Level by level: Node's own recursive form spins for ever below /proc and its like. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(path.dirname(folder));
  mkdirSync(folder);
}

/** The files of a data folder, all readable by their owner alone. */
export class DataFolder {
  readonly path: string;

  constructor(folder: string) {
    this.path = path.resolve(folder);
  }

  /** @throws ConfigError where the folder cannot be made */
  create(): void {
    try {
      makeFolder(this.path);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new ConfigError(`FLORIN_DATA_DIR ${this.path} cannot be made: ${reason}`);
    }
  }

  file(name: string): string {
    return path.join(this.path, name);
  }

  get credentialsFile(): string {
    return this.file('sandbox.json');
  }

  readCredentials(): SandboxCredentials | undefined {
    return this.#readJson<SandboxCredentials>(this.credentialsFile);
  }

  writeCredentials(credentials: SandboxCredentials): void {
    this.#writeSecret(this.credentialsFile, `${JSON.stringify(credentials, null, 2)}\n`);
  }

  readRunning(): RunningSandbox | undefined {
    return this.#readJson<RunningSandbox>(this.file('running.json'));
  }

  writeRunning(running: RunningSandbox): void {
    this.#writeSecret(this.file('running.json'), `${JSON.stringify(running, null, 2)}\n`);
  }

  removeRunning(): void {
    rmSync(this.file('running.json'), { force: true });
  }

  /** The sandbox's master key; undefined before the first start. */
  readMasterKey(): Buffer | undefined {
    const file = this.file('master.key');
    if (!existsSync(file)) return undefined;
    const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'hex');
    if (key.length === KEY_BYTES) return key;
    throw new ConfigError(
      `${file} does not hold a master key; put the right one back, or begin with a new data folder.`,
    );
  }

  /** The master key, made at the first start. */
  ensureMasterKey(): Buffer {
    const known = this.readMasterKey();
    if (known !== undefined) return known;
    const key = randomBytes(KEY_BYTES);
    this.#writeSecret(this.file('master.key'), `${key.toString('hex')}\n`);
    return key;
  }

  #readJson<T>(file: string): T | undefined {
    if (!existsSync(file)) return undefined;
    try {
      return JSON.parse(readFileSync(file, 'utf8'));
    } catch {
      throw new ConfigError(`${file} is not valid JSON. Mend it, or delete it to have it made anew.`);
    }
  }

  /** Whole or not at all: a start that is killed half-way leaves the old file. */
  #writeSecret(file: string, text: string): void {
    const draft = `${file}.new`;
    writeFileSync(draft, text, { mode: SECRET_MODE });
    chmodSync(draft, SECRET_MODE);
    renameSync(draft, file);
  }
}
