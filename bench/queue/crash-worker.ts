// A worker that takes jobs and holds them until it is told to go on, for a bench that kills or freezes it.
import { once } from 'node:events';
import { Clock } from '../../packages/server/src/platform/db/clock.ts';
import { connect } from '../../packages/server/src/platform/db/db.ts';
import { enqueue, startWorker } from '../../packages/server/src/platform/jobs/index.ts';
import { createLogger } from '../../packages/server/src/platform/observability/log.ts';
import { argument, say, untilTold } from '../child.ts';
import { COMPLETION_KIND, KIND, machineMs } from './queues.ts';

const { url, hold, leaseMs } = argument<{ url: string; hold: boolean; leaseMs: number }>();
const db = connect({ url, poolSize: 10 });
const clock = new Clock();
await clock.measure(db);
const released = once(process.stdin, 'data');

const worker = startWorker({
  db,
  url,
  clock,
  log: createLogger('silent'),
  leaseMs,
  renewEveryMs: leaseMs / 6,
  handlers: new Map([
    [
      KIND,
      async ({ merchantId, jobId }, run) => {
        say({ startedMs: machineMs() });
        if (hold) await released;
        // An effect in the transaction of the outcome: a row for each completion that was accepted.
        const effect = { merchantId, kind: COMPLETION_KIND, dueAtMs: clock.nowMs(), payload: { jobId } };
        await run.finish((tx) => enqueue(tx, [effect]));
        return 'done';
      },
    ],
  ]),
});
untilTold(() => worker.stop(100));
say({ ready: true });
