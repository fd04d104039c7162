import { setTimeout as sleep } from 'node:timers/promises';
import { machineMs } from '../queue/queues.ts';
import { interleave } from '../rounds.ts';
import type { Findings, RunOptions } from '../rows.ts';
import { median, short } from '../statistics.ts';
import { withSandboxPlace } from './premises.ts';

const LOOK_EVERY_MS = 10;
const WHOLE_WITHIN_MS = 60_000;

/**
 * Rows 22d (until the first day of a fresh sandbox is made) and 22e (whether the start waits for it). Each start is the first on
 * a folder of its own, from sources, as `npm start` is.
 */
export async function runStory(_server: unknown, options: RunOptions): Promise<Findings> {
  const untilWhole: number[] = [];
  const withStory = () =>
    startFirst(options, 'on', async (readyMs, isTelling) => {
      if (!isTelling()) throw new Error('the sandbox has no first day to make');
      while (isTelling()) {
        if (machineMs() - readyMs > WHOLE_WITHIN_MS)
          throw new Error('the first day of the sandbox is not whole');
        await sleep(LOOK_EVERY_MS);
      }
      untilWhole.push((machineMs() - readyMs) / 1000);
    });
  const without = () => startFirst(options, 'off', async () => {});
  // Compiles the code once, as the first start after an installation does.
  await without();
  const { on = [], off = [] } = await interleave(
    [
      { name: 'on', run: withStory },
      { name: 'off', run: without },
    ],
    options,
  );
  return {
    results: [
      { row: '22d', values: untilWhole },
      {
        row: '22e',
        values: on.map((seconds, round) => seconds / (off[round] ?? Number.NaN)),
        raw: { 'with, s': on, 'without, s': off },
      },
    ],
    remarks: [
      `The first start, which makes the database, took ${short(median(on))} s until ready with a first day to make behind it, ` +
        `${short(median(off))} s without.`,
    ],
  };
}

/** @returns the seconds until a fresh sandbox was ready */
async function startFirst(
  options: RunOptions,
  story: 'on' | 'off',
  whenReady: (readyMs: number, isTelling: () => boolean) => Promise<void>,
): Promise<number> {
  return await withSandboxPlace(options, async (place) => {
    const startMs = machineMs();
    const sandbox = await place.start({ FLORIN_STORY: story });
    try {
      await whenReady(sandbox.readyMs, () => place.hasStoryToTell());
      return (sandbox.readyMs - startMs) / 1000;
    } finally {
      await sandbox.stop();
    }
  });
}
