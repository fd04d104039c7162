import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { gate, MERCHANT, openWorkbench, type Workbench } from '../../../../../test/jobs/workbench.ts';
import { newId } from '../db/ids/ids.ts';
import { createLogger } from '../observability/log.ts';
import { type JobHandler, startWorker } from './index.ts';
import { DUE_MERCHANTS_MAX } from './queries.ts';

let bench: Workbench;
beforeAll(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.clear());
afterAll(() => bench.close());

const effects = async () =>
  (await sql<{ worker: string }>`select worker from effect`.execute(bench.db)).rows.length;
const addEffect = (worker: string) => sql`insert into effect (worker) values (${worker})`;

test('due jobs run in due order, later ones wait', async () => {
  const now = bench.clock.nowMs();
  const seen: unknown[] = [];
  await bench.add(
    { kind: 'a', dueAtMs: now - 10, payload: { n: 3 } },
    { kind: 'a', dueAtMs: now - 30, payload: { n: 1 } },
    { kind: 'a', dueAtMs: now - 20, payload: { n: 2 } },
    { kind: 'a', dueAtMs: now + 600_000, payload: { n: 4 } },
  );
  const worker = bench.start({
    a: async (job) => {
      seen.push(job.payload.n);
      return 'done';
    },
  });
  await worker.idle();
  expect(seen).toEqual([1, 2, 3]);
  expect(await bench.rows()).toMatchObject([{ payload: { n: 4 }, attempts: 0, fence: 0n }]);
});

test('a commit wakes a worker that polls seldom', async () => {
  const ran = gate();
  const worker = bench.start(
    {
      a: async () => {
        ran.open();
        return 'done';
      },
    },
    { pollEveryMs: 3_600_000 },
  );
  await worker.idle();
  await bench.add({ kind: 'a' });
  await ran.opened;
  await worker.idle();
  expect(await bench.rows()).toEqual([]);
});

test('a merchant with one job does not wait for another with 1,000 that are stuck', async () => {
  const small = newId();
  const smallRan = gate();
  const order: string[] = [];
  await bench.add(
    ...Array.from({ length: 1_000 }, () => ({ kind: 'a', dueAtMs: bench.clock.nowMs() - 1_000 })),
  );
  const worker = bench.start(
    {
      a: async (job) => {
        order.push(job.merchantId);
        if (job.merchantId === small) smallRan.open();
        else await smallRan.opened;
        return 'done';
      },
    },
    { batchSize: 50, runningMax: 400 },
  );
  // The backlog has taken all that it may take alone, and none of it ends before the small one has run.
  await expect.poll(() => order.length).toBe(200);
  await bench.add({ kind: 'a', merchantId: small });
  await smallRan.opened;
  expect(order.indexOf(small)).toBe(200);
  await worker.idle();
  expect(order).toHaveLength(1_001);
});

test('beside a backlog in progress, another merchant is served after a few batches', async () => {
  const small = newId();
  const now = bench.clock.nowMs();
  const order: string[] = [];
  const many = Array.from({ length: 2_000 }, () => ({ kind: 'a', dueAtMs: now - 1_000 }));
  await bench.add(...many, { kind: 'a', merchantId: small, dueAtMs: now });
  const worker = bench.start(
    {
      a: async (job) => {
        order.push(job.merchantId);
        return 'done';
      },
    },
    // One claim at a time: who comes next is decided by the queue alone.
    { merchantsAtOnce: 1, batchSize: 50, runningMax: 100 },
  );
  await worker.idle();
  expect(order).toHaveLength(2_001);
  expect(order.indexOf(small)).toBeLessThanOrEqual(100);
});

test('more merchants than one poll returns are all served', async () => {
  const merchants = DUE_MERCHANTS_MAX + 50;
  const specs = Array.from({ length: merchants }, () => ({ kind: 'a', merchantId: newId() }));
  await bench.add(...specs);
  const served = new Set<string>();
  const worker = bench.start({
    a: async (job) => {
      served.add(job.merchantId);
      return 'done';
    },
  });
  await worker.idle();
  expect(served.size).toBe(merchants);
});

test('a kind without a handler here is left alone', async () => {
  await bench.add({ kind: 'newer-release' }, { kind: 'a' });
  const worker = bench.start({ a: async () => 'done' });
  await worker.idle();
  expect(await bench.rows()).toMatchObject([{ kind: 'newer-release', fence: 0n, lease_owner: null }]);
});

test('a throw is recorded and the job comes back later, each time later', async () => {
  const handler: JobHandler = async () => {
    throw new RangeError('the node said no');
  };
  await bench.add({ kind: 'a' });
  const worker = bench.start({ a: handler });
  await worker.idle();
  const [first] = await bench.rows();
  const now = bench.clock.nowMs();
  // It is due again after half a second: a slow read finds it tried twice.
  expect(first).toMatchObject({
    attempts: expect.toSatisfy((n: number) => n >= 1),
    last_error: 'RangeError: the node said no',
  });
  expect(Number(first?.due_at_ms)).toBeGreaterThan(now - 100);
  expect(Number(first?.due_at_ms)).toBeLessThanOrEqual(now + 10_000);
  await sql`update job set attempts = 40, due_at_ms = 1`.execute(bench.db);
  await worker.idle();
  const [late] = await bench.rows();
  expect(late).toMatchObject({ attempts: 41 });
  expect(Number(late?.due_at_ms)).toBeGreaterThan(bench.clock.nowMs() + 149_000);
});

test('a planned run that is due soon starts on time, without waiting for the poll', async () => {
  const begun: number[] = [];
  let againAtMs = 0;
  bench.start(
    {
      a: async () => {
        begun.push(bench.clock.nowMs());
        againAtMs = bench.clock.nowMs() + 100;
        return begun.length < 3 ? { againAtMs } : 'done';
      },
      b: async (_job, run) => {
        begun.push(bench.clock.nowMs());
        await run.finish(
          async () => {},
          () => (begun.length < 3 ? { againAtMs: bench.clock.nowMs() + 100 } : 'done'),
        );
        return 'done';
      },
    },
    { pollEveryMs: 3_600_000 },
  );
  for (const kind of ['a', 'b']) {
    begun.length = 0;
    await bench.add({ kind });
    await expect.poll(() => begun.length, { timeout: 30_000 }).toBe(3);
    for (const i of [1, 2]) expect(begun[i]).toBeGreaterThanOrEqual((begun[i - 1] ?? 0) + 100);
    await expect.poll(() => bench.rows()).toEqual([]);
  }
});

test('thousands of long runs of one merchant do not delay a worker of other kinds', async () => {
  const mayEnd = gate();
  let running = 0;
  const long = bench.start(
    {
      long: async () => {
        running += 1;
        await mayEnd.opened;
        return 'done';
      },
    },
    { batchSize: 50, runningMax: 4_000, sharedPart: 0.6, merchantsAtOnce: 2, renewEveryMs: 100 },
  );
  const quickRan = gate();
  const quick = bench.start({
    quick: async () => {
      quickRan.open();
      return 'done';
    },
  });
  await bench.add(...Array.from({ length: 2_500 }, () => ({ kind: 'long' })));
  await expect.poll(() => running, { timeout: 30_000 }).toBe(2_400);
  // Another merchant finds room, and so does another worker.
  await bench.add({ kind: 'long', merchantId: newId() }, { kind: 'quick' });
  await expect.poll(() => running, { timeout: 30_000 }).toBe(2_401);
  await quickRan.opened;
  await quick.idle();
  mayEnd.open();
  await long.idle();
  expect(running).toBe(2_501);
  expect(await bench.rows()).toEqual([]);
});

test('a lease is not written again while most of it is left', async () => {
  await bench.add({ kind: 'a' });
  const mayEnd = gate();
  bench.start({ a: () => mayEnd.opened.then(() => 'done' as const) }, { renewEveryMs: 20 });
  await expect.poll(async () => (await bench.rows())[0]?.lease_owner).toBeTypeOf('number');
  const before = await bench.rows();
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await bench.rows()).toEqual(before);
  mayEnd.open();
});

test('a planned next run keeps the job, resets failures and waits for its time', async () => {
  await bench.add({ kind: 'a' });
  await sql`update job set attempts = 2, last_error = 'earlier'`.execute(bench.db);
  const againAtMs = bench.clock.nowMs() + 600_000;
  const worker = bench.start({ a: async () => ({ againAtMs }) });
  await worker.idle();
  expect(await bench.rows()).toMatchObject([
    { due_at_ms: BigInt(againAtMs), attempts: 0, last_error: null, lease_owner: null, lease_until_ms: null },
  ]);
});

test('a job that is enqueued during its run runs again at once, whether it ends by done or by a later run', async () => {
  for (const first of ['done' as const, { againAtMs: bench.clock.nowMs() + 600_000 }]) {
    const seen: unknown[] = [];
    const handler: JobHandler = async (job) => {
      seen.push(job.payload.n);
      if (seen.length > 1) return 'done';
      // Due in an hour by itself; yet the run that is under way may have missed it.
      const dueAtMs = bench.clock.nowMs() + 3_600_000;
      await bench.add({ kind: 'a', uniqueKey: 'k', dueAtMs, payload: { n: 2 } });
      return first;
    };
    const worker = bench.start({ a: handler }, { pollEveryMs: 3_600_000 });
    await worker.idle();
    await bench.add({ kind: 'a', uniqueKey: 'k', payload: { n: 1 } });
    await expect.poll(() => seen).toEqual([1, 2]);
    await worker.idle();
    expect(await bench.rows()).toEqual([]);
    await worker.stop(0);
  }
});

test('steps commit one by one; finish commits its change together with the outcome', async () => {
  await bench.add({ kind: 'a' }, { kind: 'again' });
  const againAtMs = bench.clock.nowMs() + 600_000;
  const worker = bench.start({
    a: async (_job, run) => {
      await run.step((tx) => addEffect('step').execute(tx));
      const rows = await run.finish(async (tx) => {
        await addEffect('finish').execute(tx);
        return (await sql`select from job where kind = 'a'`.execute(tx)).rows.length;
      });
      expect(rows).toBe(1);
      await expect(async () => run.step(async () => 1)).rejects.toThrow('has finished already');
      throw new Error('what comes after finish is not looked at');
    },
    again: async (_job, run) => {
      await run.finish(
        async () => 7,
        (result) => ({ againAtMs: againAtMs + result }),
      );
      return 'done';
    },
  });
  await worker.idle();
  expect(await effects()).toBe(2);
  expect(await bench.rows()).toMatchObject([
    { kind: 'again', due_at_ms: BigInt(againAtMs + 7), attempts: 0 },
  ]);
});

test('a finish that throws changes nothing and counts as a failure', async () => {
  await bench.add({ kind: 'a' });
  const worker = bench.start({
    a: async (_job, run) => {
      await run.finish(async (tx) => {
        await addEffect('undone').execute(tx);
        throw new Error('no');
      });
      return 'done';
    },
  });
  await worker.idle();
  expect(await effects()).toBe(0);
  expect(await bench.rows()).toMatchObject([
    { attempts: expect.toSatisfy((n: number) => n >= 1), last_error: 'Error: no' },
  ]);
});

test('a job that is enqueued between the last read of finish and its end runs again', async () => {
  const seen: number[] = [];
  const worker = bench.start({
    a: async (_job, run) => {
      seen.push(seen.length);
      await run.finish(async () => {
        if (seen.length === 1) await bench.add({ kind: 'a', uniqueKey: 'k' });
      });
      return 'done';
    },
  });
  await bench.add({ kind: 'a', uniqueKey: 'k' });
  await expect.poll(() => seen).toEqual([0, 1]);
  await worker.idle();
  expect(await bench.rows()).toEqual([]);
});

test('fault 13: two workers never run the same job at once, and each of 2,000 jobs runs once', async () => {
  const merchants = [newId(), newId(), newId()];
  const specs = Array.from({ length: 2_000 }, (_, n) => ({
    kind: 'a',
    merchantId: merchants[n % 3] ?? MERCHANT,
  }));
  await bench.add(...specs);
  const running = new Set<string>();
  const ran = new Map<string, number>();
  const by: Record<string, number> = { one: 0, two: 0 };
  const handlerOf =
    (name: string): JobHandler =>
    async (job) => {
      expect(running.has(job.jobId)).toBe(false);
      running.add(job.jobId);
      ran.set(job.jobId, (ran.get(job.jobId) ?? 0) + 1);
      by[name] = (by[name] ?? 0) + 1;
      await new Promise((resolve) => setTimeout(resolve, 1));
      running.delete(job.jobId);
      return 'done';
    };
  // Little at a time, so that neither takes all before the other is there.
  const limits = { batchSize: 10, runningMax: 20 };
  const one = bench.start({ a: handlerOf('one') }, limits);
  const two = bench.start({ a: handlerOf('two') }, limits);
  await Promise.all([one.idle(), two.idle()]);
  expect(ran.size).toBe(2_000);
  expect([...ran.values()].every((times) => times === 1)).toBe(true);
  expect(by.one).toBeGreaterThan(0);
  expect(by.two).toBeGreaterThan(0);
  expect(await bench.rows()).toEqual([]);
});

test('stop waits for what runs, aborts the rest and gives its leases back', async () => {
  const release = gate();
  const started: string[] = [];
  let late: unknown;
  const worker = bench.start({
    quick: async () => {
      started.push('quick');
      await release.opened;
      return 'done';
    },
    stuck: async (_job, run) => {
      started.push('stuck');
      await new Promise((resolve) => run.signal.addEventListener('abort', resolve));
      // A handler that does not heed the signal: its job is no longer its own.
      await new Promise((resolve) => setTimeout(resolve, 300));
      late = await run.step((tx) => addEffect('late').execute(tx)).catch((error: unknown) => error);
      return 'done';
    },
  });
  await bench.add({ kind: 'quick' }, { kind: 'stuck' });
  await expect.poll(() => started.toSorted()).toEqual(['quick', 'stuck']);
  const stopped = worker.stop(200);
  await bench.add({ kind: 'quick', uniqueKey: 'after' });
  release.open();
  await stopped;
  expect(await bench.rows()).toMatchObject([
    { kind: 'stuck', attempts: 0, lease_owner: null, lease_until_ms: null, last_error: null },
    { kind: 'quick', unique_key: 'after', fence: 0n },
  ]);
  await expect.poll(() => late).toMatchObject({ message: expect.stringContaining('taken over') });
  expect(await effects()).toBe(0);
});

test('a worker without a database stops at once', async () => {
  const worker = startWorker({
    db: bench.db,
    url: 'postgres://nobody@127.0.0.1:1/none',
    clock: bench.clock,
    log: createLogger('silent'),
    handlers: new Map(),
  });
  await worker.stop(10_000);
  await worker.idle();
  expect(await bench.rows()).toEqual([]);
});
