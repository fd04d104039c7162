import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { gate, MERCHANT, openWorkbench, type Workbench } from '../../../../../test/jobs/workbench.ts';
import { newId } from '../db/ids/ids.ts';
import { type ClaimedJob, type JobRun, newFence } from './job.ts';
import { ActiveRun } from './run.ts';

const DAY_MS = 86_400_000;
const JOB = { kind: 'look', uniqueKey: 'one' };

let bench: Workbench;

beforeAll(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.clear());
afterAll(() => bench.close());

/** Runs a job that sleeps until tomorrow; the job is enqueued again in its first run, after `before`. @returns its runs */
async function runs(before: (run: JobRun, heard: () => void) => void, heardMost: number): Promise<number> {
  let [count, heard] = [0, 0];
  const over = gate();
  bench.start({
    look: async (_job, run) => {
      count += 1;
      if (count > 1) return 'done';
      before(run, () => {
        heard += 1;
      });
      await bench.add(JOB);
      // A read of revisions for this worker has ended by then.
      for (let wait = 0; wait < 800 && heard < heardMost; wait++)
        await new Promise((next) => setTimeout(next, 25));
      over.open();
      return { againAtMs: bench.clock.nowMs() + DAY_MS };
    },
  });
  await bench.add(JOB);
  await over.opened;
  await expect
    .poll(async () => (await bench.rows()).every((row) => row.lease_owner === null), { timeout: 30_000 })
    .toBe(true);
  expect(heard).toBe(heardMost);
  return count;
}

test('a revision that a handler has seen does not make its job run again', async () => {
  expect(await runs((run, heard) => run.onRevision(heard), 1)).toBe(1);
  expect(Number((await bench.rows())[0]?.due_at_ms)).toBeGreaterThan(bench.clock.nowMs() + DAY_MS / 2);
});

test('a revision after a handler’s last read makes its job run again at once', async () => {
  const decided = (run: JobRun, heard: () => void) => {
    run.onRevision(heard);
    run.onRevision(undefined);
  };
  await runs(decided, 0);
  await expect.poll(() => bench.rows(), { timeout: 30_000 }).toEqual([]);
});

test('a revision that arrives during a handler’s last read is left for the next run', () => {
  const job: ClaimedJob = {
    merchantId: MERCHANT,
    jobId: newId(),
    kind: 'look',
    payload: {},
    attempts: 0,
    lastError: null,
    dueAtMs: 0,
    trace: null,
    fence: newFence(),
    revision: 3,
  };
  const run = new ActiveRun(bench.db, job, 0);
  let heard = 0;
  run.onRevision(() => {
    heard += 1;
  });
  run.noteRevision(4);
  run.onRevision(undefined);
  run.noteRevision(5);
  expect([heard, run.job.revision]).toEqual([1, 4]);
});
