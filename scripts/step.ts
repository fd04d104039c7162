import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import {
  type Counts,
  closingLine,
  failureLine,
  lateFiles,
  readClosingLine,
  readFailures,
  sum,
} from './counts.ts';

export const ROOT = path.resolve(import.meta.dirname, '..');

export interface StepCounts extends Counts {
  /** A line for each thing that failed; without them the step is that thing. */
  failures?: readonly string[];
  /** What was late at first, and was asked once more. */
  late?: readonly string[];
}

/** A step counts as one of what it did; a run of tests as its tests. */
export interface Step {
  name: string;
  run: () => Promise<StepCounts>;
}

export const PASSED: Counts = { passed: 1, failed: 0, skipped: 0 };
export const FAILED: Counts = { passed: 0, failed: 1, skipped: 0 };
export const SKIPPED: Counts = { passed: 0, failed: 0, skipped: 1 };

/** Runs the steps one after the other, also past a failure, so that one run shows everything that is wrong. */
export async function runSteps(steps: readonly Step[]): Promise<StepCounts[]> {
  const results: StepCounts[] = [];
  for (const { name, run } of steps) {
    console.log(`\n== ${name}`);
    const start = performance.now();
    const counts = await run();
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`-- ${name}: ${counts.failed === 0 ? 'ok' : 'FAILED'}, ${seconds} s`);
    const { failures = [] } = counts;
    const isSilent = counts.failed > 0 && failures.length === 0;
    results.push(isSilent ? { ...counts, failures: [failureLine(name)] } : counts);
  }
  return results;
}

/** What a run ends with: a line for each failure and for what was late at first, and the closing line. */
export const endOf = (results: readonly StepCounts[]): string =>
  [
    ...results.flatMap(({ late = [] }) => late.map((line) => `at first ${line}`)),
    ...results.flatMap(({ failures = [] }) => failures),
    closingLine(sum(results)),
  ].join('\n');

interface Finished {
  ok: boolean;
  stdout: string;
}

interface RunOptions {
  /** Added to this process's environment. */
  env?: Record<string, string>;
  /** Keeps what the program prints from the screen. */
  quiet?: boolean;
}

let running: ChildProcess | undefined;
let interrupted = false;

/** A signal ends the program that runs now, which cleans up after itself, and then this run. */
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    interrupted = true;
    running?.kill(signal);
  });
}

/** Runs a program of node_modules/.bin or of the system, with this Node first on its path. */
export function execute(program: string, args: string[], options: RunOptions = {}): Promise<Finished> {
  const paths = [path.dirname(process.execPath), path.join(ROOT, 'node_modules', '.bin'), process.env.PATH];
  const child = spawn(program, args, {
    cwd: ROOT,
    // Without colours: logs are read by programs, and a coloured report is many times as long.
    env: { ...process.env, NO_COLOR: '1', PATH: paths.join(path.delimiter), ...options.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running = child;
  return new Promise((resolve) => {
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
      if (options.quiet !== true) process.stdout.write(chunk);
    });
    child.once('error', (error) => {
      console.error(`${program} does not run: ${error.message}`);
      resolve({ ok: false, stdout });
    });
    child.once('close', (code) => {
      if (interrupted) process.exit(1);
      resolve({ ok: code === 0, stdout });
    });
  });
}

/** A step that is one program, which fails by its exit code. */
export function programStep(name: string, program: string, args: string[]): Step {
  return { name, run: async () => ((await execute(program, args)).ok ? PASSED : FAILED) };
}

/**
 * A run of vitest, counted by its closing line. One that died before it, or fails without saying why, failed. Where nothing was
 * wrong but one or two files waited in vain, these run once more, with nothing beside them.
 */
export function testStep(name: string, args: string[], env: Record<string, string> = {}): Step {
  return {
    name,
    run: async () => {
      const first = await runTests(name, args, env);
      const files = lateFiles(first.failures);
      if (files.length === 0) return first;
      console.log(`\n-- once more, alone: ${files.join(', ')}`);
      const { failed, failures } = await runTests(name, files, env);
      const passed = first.passed + first.failed - failed;
      return { passed, failed, skipped: first.skipped, failures, late: first.failures };
    },
  };
}

async function runTests(
  name: string,
  args: string[],
  env: Record<string, string>,
): Promise<StepCounts & { failures: readonly string[] }> {
  const { ok, stdout } = await execute('vitest', ['run', ...args], { env });
  const counts = readClosingLine(stdout) ?? FAILED;
  const failures = readFailures(stdout).map((line) => `${line} (${name})`);
  if (ok || counts.failed > 0) return { ...counts, failures };
  return { ...counts, failed: 1, failures };
}
