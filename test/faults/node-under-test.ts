import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { NODE_PROCESS } from '../programs.ts';
import { type FaultProxy, openFaultProxy } from './proxy.ts';

const LOG_LINES_KEPT = 400;
const UNPROMPTED = /unhandled|uncaught/i;

export type Role = 'serve' | 'work';

export interface NodeOptions {
  role: Role;
  name: string;
  databaseUrl: string;
  /** Of the database that holds the chains. */
  chainUrl: string;
  masterKey: string;
  /** Further environment variables. */
  env?: Readonly<Record<string, string>>;
}

export interface StartOptions {
  /** `name` or `name:k`: where this life of the process ends. */
  crashPoint?: string | undefined;
  /** `name` or `name:k`: where this process stands still, until it is sent SIGCONT. */
  stopPoint?: string | undefined;
}

/** How a process ended: by a signal or with a code. */
export interface Ended {
  signal: NodeJS.Signals | null;
  code: number | null;
}

/** One API server or worker as a process of its own, with a fault proxy before its database and one before its chain. */
export class NodeUnderTest {
  readonly role: Role;
  readonly name: string;
  readonly database: FaultProxy;
  readonly chain: FaultProxy;
  readonly log: string[] = [];
  /** Ends that nobody asked for. */
  readonly surprises: string[] = [];
  readonly #options: NodeOptions;
  #child: ChildProcess | undefined;
  #ended: Promise<Ended> = Promise.resolve({ signal: null, code: 0 });
  #baseUrl = '';
  #crashPoint: string | undefined;
  #isWanted = false;

  constructor(options: NodeOptions, lines: { database: FaultProxy; chain: FaultProxy }) {
    this.#options = options;
    this.role = options.role;
    this.name = options.name;
    this.database = lines.database;
    this.chain = lines.chain;
  }

  static async open(options: NodeOptions): Promise<NodeUnderTest> {
    const [database, chain] = await Promise.all([
      openFaultProxy(options.databaseUrl),
      openFaultProxy(options.chainUrl),
    ]);
    return new NodeUnderTest(options, { database, chain });
  }

  get baseUrl(): string {
    return this.#baseUrl;
  }

  get isUp(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error(`${this.name} has not been started`);
    return pid;
  }

  /** It lives and does nothing, as after SIGSTOP. */
  get isStopped(): boolean {
    if (!this.isUp) return false;
    const [, state] = / ([A-Za-z]) \d+ /.exec(readFileSync(`/proc/${this.#child?.pid}/stat`, 'utf8')) ?? [];
    return state === 'T';
  }

  /** Resolves when the present process has ended. */
  get ended(): Promise<Ended> {
    return this.#ended;
  }

  /** @throws with the end of its log where it does not come up */
  async start({ crashPoint, stopPoint }: StartOptions = {}): Promise<void> {
    const { masterKey, env, role } = this.#options;
    const child = spawn(process.execPath, [NODE_PROCESS, role], {
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        DATABASE_URL: this.database.url,
        FLORIN_SIMCHAIN_URL: this.chain.url,
        FLORIN_MASTER_KEY: masterKey,
        FLORIN_PORT: '0',
        FLORIN_RATE_PER_SECOND: '100000',
        FLORIN_RATE_BURST: '100000',
        FLORIN_TEST_BUILD: '1',
        ...(crashPoint === undefined ? {} : { FLORIN_CRASH_POINT: crashPoint }),
        ...(stopPoint === undefined ? {} : { FLORIN_CRASH_POINT: stopPoint, FLORIN_CRASH_SIGNAL: 'SIGSTOP' }),
        ...env,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#crashPoint = crashPoint;
    this.#isWanted = true;
    this.#ended = once(child, 'exit').then(([code, signal]) => this.#end({ code, signal }));
    if (child.stderr !== null)
      createInterface({ input: child.stderr }).on('line', (line) => this.#hear(line));
    const first = await this.#firstLine(child);
    if (first !== undefined) this.#baseUrl = String(JSON.parse(first).baseUrl);
  }

  /** kill -9. */
  async kill(): Promise<void> {
    this.#isWanted = false;
    this.#child?.kill('SIGKILL');
    await this.#ended;
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGUSR2'): void {
    this.#child?.kill(signal);
  }

  /** SIGTERM, as a rolling restart sends it. */
  async stop(): Promise<Ended> {
    this.#isWanted = false;
    this.#child?.kill('SIGTERM');
    return await this.#ended;
  }

  async close(): Promise<void> {
    await this.kill();
    await Promise.all([this.database.close(), this.chain.close()]);
  }

  /** Resolves with the first line, or undefined where an ordered crash came before it. */
  async #firstLine(child: ChildProcess): Promise<string | undefined> {
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    const first = once(lines, 'line').then(([line]) => String(line));
    const outcome = await Promise.race([first, this.#ended]);
    if (typeof outcome === 'string') return outcome;
    if (outcome.signal === 'SIGKILL') return undefined;
    throw new Error(`${this.name} does not start:\n${this.log.slice(-10).join('\n')}`);
  }

  #end({ code, signal }: Ended): Ended {
    const ordered = !this.#isWanted || (signal === 'SIGKILL' && this.#crashPoint !== undefined);
    if (!ordered) this.surprises.push(`${this.name} ended by itself: ${signal ?? `exit ${code}`}`);
    return { code, signal };
  }

  #hear(line: string): void {
    if (UNPROMPTED.test(line)) this.surprises.push(`${this.name}: ${line}`);
    if (this.log.push(line) > LOG_LINES_KEPT) this.log.shift();
  }
}
