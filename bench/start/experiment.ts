import { setTimeout as sleep } from 'node:timers/promises';
import { residentMegabytes } from '../procfs.ts';
import { machineMs } from '../queue/queues.ts';
import type { Findings, RunOptions } from '../rows.ts';
import { short } from '../statistics.ts';
import { type SandboxPlace, withSandboxPlace } from './premises.ts';

/** Row 12a and b: how long a sandbox takes to come up again, and what it keeps in memory while nobody calls. */
export async function runStart(_server: unknown, options: RunOptions): Promise<Findings> {
  return await withSandboxPlace(options, (place) => measure(place, options));
}

async function measure(place: SandboxPlace, { rounds, quick, log }: RunOptions): Promise<Findings> {
  const idleMs = quick ? 4_000 : 15_000;
  const start = async () => {
    const startMs = machineMs();
    const sandbox = await place.start();
    return { ...sandbox, seconds: (sandbox.readyMs - startMs) / 1000 };
  };
  const first = await start();
  await first.stop();
  const seconds: number[] = [];
  const megabytes: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const again = await start();
    if (again.firstStart) throw new Error('the sandbox did not find its data again');
    seconds.push(again.seconds);
    await sleep(idleMs);
    megabytes.push(residentMegabytes(again.pid));
    await again.stop();
    log(
      `  round ${round + 1}/${rounds} start: ${short(again.seconds)} s, idle: ${short(megabytes.at(-1) ?? 0)} MB`,
    );
  }
  return {
    results: [
      { row: '12a', values: seconds },
      { row: '12b', values: megabytes },
    ],
    remarks: [
      `The very first start, which makes database and sandbox, took ${short(first.seconds)} s. Memory is resident ` +
        `memory ${idleMs / 1000} s after the start.`,
    ],
  };
}
