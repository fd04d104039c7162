import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWorkbench, type Workbench } from '../../../../../test/jobs/workbench.ts';

let bench: Workbench;
beforeAll(async () => {
  bench = await openWorkbench();
});
afterAll(() => bench.close());

test('a job of a merchant with thousands of low-priority ones runs before most of them', async () => {
  const count = 2_000;
  let before = 0;
  let ended = 0;
  await bench.add(...Array.from({ length: count }, () => ({ kind: 'patient' })));
  const worker = bench.start(
    {
      patient: async () => {
        ended += 1;
        if (ended === 1) await bench.add({ kind: 'a' });
        return 'done';
      },
      a: async () => {
        before = ended;
        return 'done';
      },
    },
    { lowPriorityKinds: ['patient'], batchSize: 20, runningMax: 20, sharedPart: 1 },
  );
  await worker.idle();
  expect(ended).toBe(count);
  expect(before).toBeLessThan(count / 4);
});
