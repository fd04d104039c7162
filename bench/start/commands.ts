import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { endedChildrenCpuSeconds } from '../procfs.ts';
import { machineMs } from '../queue/queues.ts';

/** So many runs of each command make one value. */
const RUNS = 5;

export interface CommandTimes {
  /** Of `florin --help`, by the clock on the wall. */
  helpSeconds: number;
  /** Processor time of a command that opens the database. */
  operatorSeconds: number;
}

/** Runs the installed program beside its sandbox. */
export async function measureCommands(
  program: string,
  env: Readonly<Record<string, string>>,
): Promise<CommandTimes> {
  const run = async (words: readonly string[]) => {
    const child = spawn(process.execPath, [program, ...words], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`florin ${words.join(' ')} has ended with ${code}`);
  };
  await run(['--help']);
  const startMs = machineMs();
  for (let i = 0; i < RUNS; i++) await run(['--help']);
  const helpSeconds = (machineMs() - startMs) / 1000 / RUNS;
  await run(['merchants', 'list']);
  const before = endedChildrenCpuSeconds();
  for (let i = 0; i < RUNS; i++) await run(['merchants', 'list']);
  return { helpSeconds, operatorSeconds: (endedChildrenCpuSeconds() - before) / RUNS };
}
