import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** A script of this folder in a process of its own, which talks in lines of JSON on its standard output. */
export interface Child {
  pid: number;
  /** The next line. @throws where the process ends before it */
  next<T>(): Promise<T>;
  /** Every further line as it comes; `next` is not used with it. */
  onLine(listener: (line: unknown) => void): void;
  send(line: string): void;
  kill(signal: NodeJS.Signals): void;
  /** Ends the process by SIGTERM, as a supervisor would, and waits for it. */
  stop(): Promise<void>;
}

export interface ChildOptions {
  /** One JSON value, read by `argument()` in the child. */
  argument?: unknown;
  env?: Record<string, string>;
  profileDir?: string | undefined;
}

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export function startChild(script: string, options: ChildOptions = {}): Child {
  const file = new URL(script, import.meta.url).pathname;
  const child = spawn(
    process.execPath,
    [...profiling(options.profileDir), file, JSON.stringify(options.argument ?? null)],
    {
      env: { ...process.env, ...options.env },
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  running.add(child);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  void ended.then(() => running.delete(child));
  const lines: unknown[] = [];
  let wake = () => {};
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(JSON.parse(line));
    wake();
  });
  return {
    pid: child.pid ?? 0,
    async next<T>() {
      while (lines.length === 0) {
        const line = new Promise<void>((resolve) => {
          wake = resolve;
        });
        await Promise.race([line, ended]);
        if (lines.length === 0 && !running.has(child)) throw new Error(`${script} ended: ${exitOf(child)}`);
      }
      return lines.shift() as T;
    },
    onLine(listener) {
      wake = () => {
        for (const line of lines.splice(0)) listener(line);
      };
      wake();
    },
    send: (line) => void child.stdin.write(`${line}\n`),
    kill: (signal) => void child.kill(signal),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function profiling(folder: string | undefined): string[] {
  if (folder === undefined) return [];
  mkdirSync(folder, { recursive: true });
  return ['--cpu-prof', `--cpu-prof-dir=${folder}`];
}

const exitOf = (child: ChildProcess) => child.signalCode ?? `exit ${child.exitCode}`;

/** In a child: what its parent gave it. */
export function argument<T>(): T {
  return JSON.parse(process.argv[2] ?? 'null');
}

/** In a child: a line for the parent. */
export function say(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** In a child: runs `stop` at SIGTERM and then leaves, so that a profile is written. */
export function untilTold(stop: () => Promise<unknown>): void {
  process.once('SIGTERM', () => {
    void stop().finally(() => process.exit(0));
  });
}
