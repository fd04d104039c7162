import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { MERCHANT, openWorkbench, type Workbench } from '../../../../../test/jobs/workbench.ts';
import { connect, type Db, openSession } from '../db/db.ts';
import { newId } from '../db/ids/ids.ts';
import { transact } from '../db/transact.ts';
import { advanceClockJobs, enqueue } from './index.ts';
import { type JobNotice, notifyWorkers, WorkerNotifier } from './worker-notifier.ts';

const HOUR_MS = 3_600_000;

let bench: Workbench;
/** What another process would have. */
let otherPool: Db;
beforeAll(async () => {
  bench = await openWorkbench();
  otherPool = connect({ url: bench.url, poolSize: 2 });
});
afterEach(() => bench.clear());
afterAll(async () => {
  await otherPool.destroy();
  await bench.close();
});

const addThere = (dueAtMs: number) =>
  transact(otherPool, (tx) => enqueue(tx, [{ merchantId: MERCHANT, kind: 'a', dueAtMs }]));

test('a commit in another process wakes a worker that polls seldom', async () => {
  let runs = 0;
  const a = async () => {
    runs += 1;
    return 'done' as const;
  };
  const worker = bench.start({ a }, { pollEveryMs: HOUR_MS });
  await worker.idle();
  await addThere(bench.clock.nowMs());
  await expect.poll(() => runs, { timeout: 30_000 }).toBe(1);
});

test('a job that is due soon begins when it is due, whoever enqueued it, without a poll', async () => {
  const begun: number[] = [];
  const a = async () => {
    begun.push(bench.clock.nowMs());
    return 'done' as const;
  };
  const worker = bench.start({ a }, { pollEveryMs: HOUR_MS });
  await worker.idle();
  const dueAtMs = bench.clock.nowMs() + 300;
  await bench.add({ kind: 'a', merchantId: newId(), dueAtMs });
  await addThere(dueAtMs + 300);
  await expect.poll(() => begun.length, { timeout: 30_000 }).toBe(2);
  expect(begun[0]).toBeGreaterThanOrEqual(dueAtMs);
  expect(begun[1]).toBeGreaterThanOrEqual(dueAtMs + 300);
});

test('notices carry merchant, kind and the earliest time; those of one turn of the loop go out together', async () => {
  const session = await openSession(bench.url);
  const heard: (JobNotice | undefined)[] = [];
  const [here, there] = [WorkerNotifier.of(bench.db), WorkerNotifier.of(otherPool)];
  session.on('notification', ({ payload = '' }) => heard.push(there.read(payload)));
  await session.query('listen florin_job');
  const direct: JobNotice[] = [];
  const endListening = here.listen((call) => direct.push(call));
  const [a, b] = [newId(), newId()];
  await transact(bench.db, async (tx) => {
    notifyWorkers(tx, [
      { merchantId: a, kind: 'x y', dueAtMs: 7 },
      { merchantId: a, kind: 'x y', dueAtMs: 5 },
    ]);
    await advanceClockJobs(tx, b, { ms: 1_000, nowMs: 0, retryKinds: [] });
    notifyWorkers(tx, []);
  });
  const expected = [
    { merchantId: a, kind: 'x y', dueAtMs: 5 },
    { merchantId: b, kind: undefined, dueAtMs: 0 },
  ];
  expect(direct).toEqual(expected);
  await expect.poll(() => heard).toEqual(expected);
  endListening();
  await session.end();
});

test('a pool ignores its own notices and malformed messages', () => {
  const notifier = WorkerNotifier.of(bench.db);
  expect(notifier.read(`${MERCHANT}`)).toEqual({ merchantId: MERCHANT, kind: undefined, dueAtMs: 0 });
  for (const message of ['', 'nonsense', `${MERCHANT}0`, "'; drop table job"]) {
    expect(notifier.read(message)).toBeUndefined();
  }
});
