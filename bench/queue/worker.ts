// One worker process of one queue. Drains what is there and says how long it took, or says each job's delay.
import { setTimeout as sleep } from 'node:timers/promises';
import { argument, say, untilTold } from '../child.ts';
import { openFlorin } from './florin.ts';
import { openGraphile } from './graphile.ts';
import { openPgBoss } from './pg-boss.ts';
import { machineMs, type QueueTask } from './queues.ts';

const LOOK_EVERY_MS = 3;

const { queue: name, url, task, jobs } = argument<QueueTask>();

const queue = await {
  florin: () => openFlorin(url),
  'graphile-worker': () => openGraphile(url, task),
  'pg-boss': () => openPgBoss(url),
}[name]();
untilTold(() => queue.stop());

let started = 0;
const isDone = async () => started >= jobs && (await queue.countLeft()) === 0;

const startMs = performance.now();
const before = process.cpuUsage();
await queue.start(({ sentMs }) => {
  started += 1;
  if (task === 'serve' && sentMs !== undefined) say({ delayMs: machineMs() - sentMs });
});
if (task === 'drain') {
  while (!(await isDone())) await sleep(LOOK_EVERY_MS);
  const { user, system } = process.cpuUsage(before);
  say({
    perSecond: (jobs * 1000) / (performance.now() - startMs),
    cpuMicros: (user + system) / jobs,
    started,
  });
} else {
  say({ ready: true });
}
