import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startChild } from '../child.ts';
import { residentMegabytes } from '../procfs.ts';
import { machineMs } from '../queue/queues.ts';
import type { Findings, RunOptions } from '../rows.ts';
import { short } from '../statistics.ts';

interface Ready {
  readyMs: number;
  firstStart: boolean;
  databaseFolder?: string;
}

/** Row 12: how long a sandbox takes to come up again, and what it keeps in memory while nobody calls. */
export async function runStart(_server: unknown, options: RunOptions): Promise<Findings> {
  const { rounds, quick, profileDir } = options;
  const folder = await mkdtemp(path.join(tmpdir(), 'florin-bench-'));
  // As root the database runs under another account, which has to pass.
  await chmod(folder, 0o755);
  const idleMs = quick ? 4_000 : 15_000;
  const start = async () => {
    const env = { FLORIN_DATA_DIR: path.join(folder, 'data'), FLORIN_PORT: '0', DATABASE_URL: '' };
    const startMs = machineMs();
    const child = startChild('start/sandbox.ts', { env, profileDir });
    const ready = await child.next<Ready>();
    return { ...ready, child, seconds: (ready.readyMs - startMs) / 1000 };
  };
  try {
    const first = await start();
    await first.child.stop();
    const seconds: number[] = [];
    const megabytes: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const again = await start();
      if (again.firstStart) throw new Error('the sandbox did not find its data again');
      seconds.push(again.seconds);
      await sleep(idleMs);
      megabytes.push(residentMegabytes(again.child.pid));
      await again.child.stop();
      options.log(
        `  round ${round + 1}/${rounds} start: ${short(again.seconds)} s, idle: ${short(megabytes.at(-1) ?? 0)} MB`,
      );
    }
    if (first.databaseFolder !== undefined) await rm(first.databaseFolder, { recursive: true, force: true });
    return {
      results: [
        { row: '12a', values: seconds },
        { row: '12b', values: megabytes },
      ],
      remarks: [
        `The very first start, which makes database and sandbox, took ${short(first.seconds)} s. Memory is resident ` +
          `memory ${idleMs / 1000} s after the start. Growth under load is not part of this run.`,
      ],
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
