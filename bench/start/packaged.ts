import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { makeFlorin } from '../../scripts/packages.ts';
import { machineMs } from '../queue/queues.ts';

/** A sandbox that was started in a process of its own. */
export interface PackagedSandbox {
  pid: number;
  readyMs: number;
  stop(): Promise<void>;
}

/** Makes the package `florin` as it is published. @returns its program */
export async function packagedProgram(): Promise<string> {
  return path.join(await makeFlorin(), 'bin', 'florin.js');
}

/** Starts the program; answers when it says that it is ready. */
export async function startPackaged(
  program: string,
  env: Readonly<Record<string, string>>,
): Promise<PackagedSandbox> {
  const child = spawn(process.execPath, [program, 'start'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const endWithBenchmark = () => void child.kill('SIGKILL');
  process.once('exit', endWithBenchmark);
  const ready = new Promise<number>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith('Florin is running')) resolve(machineMs());
    });
  });
  const readyMs = await Promise.race([ready, ended]);
  if (typeof readyMs !== 'number' || child.pid === undefined) throw new Error('the package did not start');
  return {
    pid: child.pid,
    readyMs,
    async stop() {
      child.kill('SIGTERM');
      await ended;
      process.off('exit', endWithBenchmark);
    },
  };
}
