import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { ConfigError } from './platform/config.ts';
import type { SandboxCredentials } from './sandbox/index.ts';

const SECRET_MODE = 0o600;
const FOLDER_MODE = 0o700;
/** As root, PostgreSQL runs under another account, whose group may traverse the folder but not list it. */
const PASSED_THROUGH_MODE = 0o710;
/** The permissions of a shared folder such as /tmp are left alone. */
const STICKY = 0o1000;
const KEY_BYTES = 32;
const MASTER_KEY = 'master.key';
const STORY = 'story.pending';
/** Where commands look by themselves. */
const DEFAULT_FOLDER = '.florin';

/** The databases of a running sandbox, for the CLI. */
export interface RunningSandbox {
  pid: number;
  base_url: string;
  database_url: string;
  simchain_url: string | null;
}

/** Creates each level itself, since Node's `recursive` option loops for ever below /proc. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(path.dirname(folder));
  mkdirSync(folder);
}

/** Whether there is such a process. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The files of a data folder, readable by their owner only. */
export class DataFolder {
  readonly path: string;

  constructor(folder: string) {
    this.path = path.resolve(folder);
  }

  /** The option by which a command in this directory finds the folder, with a space before it; '' if it needs none. */
  commandOption(): string {
    if (this.path === path.resolve(DEFAULT_FOLDER)) return '';
    return ` --data-dir '${this.path.replaceAll("'", "'\\''")}'`;
  }

  /**
   * Creates the folder without access for others. An existing data folder is closed, too.
   *
   * @param group of the account that runs PostgreSQL, if that is another one
   * @throws ConfigError if the folder cannot be created
   */
  create(group?: number): void {
    try {
      const isNew = !existsSync(this.path);
      makeFolder(this.path);
      if (isNew || existsSync(this.file(MASTER_KEY))) this.#close(group);
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
    const { base_url, api_key, secret_key } = credentials;
    const variables = { FLORIN_BASE_URL: base_url, FLORIN_API_KEY: api_key, FLORIN_SECRET_KEY: secret_key };
    const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
    // For `node --env-file`.
    this.#writeSecret(this.file('sandbox.env'), lines.join(''));
  }

  /** Whether the sandbox's story was begun and is not whole. */
  get hasStoryToTell(): boolean {
    return existsSync(this.file(STORY));
  }

  noteStory(isWhole: boolean): void {
    if (isWhole) rmSync(this.file(STORY), { force: true });
    else this.#writeSecret(this.file(STORY), '');
  }

  readRunning(): RunningSandbox | undefined {
    return this.#readJson<RunningSandbox>(this.file('running.json'));
  }

  /** The same while its process lives. */
  readAlive(): RunningSandbox | undefined {
    const running = this.readRunning();
    return running !== undefined && isAlive(running.pid) ? running : undefined;
  }

  /** The database that the settings lead to: their own, else that of the sandbox that runs on the folder. */
  databaseUrlOf({ databaseUrl }: { databaseUrl: string | undefined }): string | undefined {
    return databaseUrl ?? this.readAlive()?.database_url;
  }

  writeRunning(running: RunningSandbox): void {
    this.#writeSecret(this.file('running.json'), `${JSON.stringify(running, null, 2)}\n`);
  }

  removeRunning(): void {
    rmSync(this.file('running.json'), { force: true });
  }

  #close(group: number | undefined): void {
    const { uid, mode } = statSync(this.path);
    // The permissions of somebody else's volume are left alone.
    if ((mode & STICKY) !== 0 || uid !== process.getuid?.()) return;
    if (group !== undefined) chownSync(this.path, uid, group);
    chmodSync(this.path, group === undefined ? FOLDER_MODE : PASSED_THROUGH_MODE);
  }

  /** The sandbox's master key; undefined before the first start. */
  readMasterKey(): Buffer | undefined {
    const file = this.file(MASTER_KEY);
    if (!existsSync(file)) return undefined;
    const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'hex');
    if (key.length === KEY_BYTES) return key;
    throw new ConfigError(
      `${file} does not hold a master key; put the right one back, or begin with a new data folder.`,
    );
  }

  /** The master key, created at the first start. */
  ensureMasterKey(): Buffer {
    const known = this.readMasterKey();
    if (known !== undefined) return known;
    const key = randomBytes(KEY_BYTES);
    this.#writeSecret(this.file(MASTER_KEY), `${key.toString('hex')}\n`);
    return key;
  }

  #readJson<T>(file: string): T | undefined {
    if (!existsSync(file)) return undefined;
    try {
      return JSON.parse(readFileSync(file, 'utf8'));
    } catch {
      throw new ConfigError(`${file} is not valid JSON. Repair it, or delete it to have it created again.`);
    }
  }

  /** Writes atomically (temporary file, then rename): a killed start leaves the old file. */
  #writeSecret(file: string, text: string): void {
    const draft = `${file}.new`;
    writeFileSync(draft, text, { mode: SECRET_MODE });
    chmodSync(draft, SECRET_MODE);
    renameSync(draft, file);
  }
}
