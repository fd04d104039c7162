import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { gate, openWorkbench, type Workbench } from '../../../../../test/jobs/workbench.ts';
import { openSession } from '../db/db.ts';
import type { JobHandler } from './index.ts';
import { LeaseLost } from './job.ts';

const LEASE_MS = 30_000;
const FIXTURE = fileURLToPath(new URL('../../../../../test/jobs/hanging-worker.ts', import.meta.url));

let bench: Workbench;
const children: ChildProcess[] = [];
beforeAll(async () => {
  bench = await openWorkbench();
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await bench.clear();
});
afterAll(() => bench.close());

const effects = async () => {
  const { rows } = await sql<{ worker: string }>`select worker from effect`.execute(bench.db);
  return rows.map((row) => row.worker);
};
const addEffect = (worker: string) => sql`insert into effect (worker) values (${worker})`;
const leaseOwner = async () => (await bench.rows())[0]?.lease_owner;

/** A worker in a process of its own; resolves once it has begun its job. */
async function startChild(leaseMs: number): Promise<{ child: ChildProcess; heard: string[] }> {
  const child = spawn(process.execPath, [FIXTURE, bench.url, String(leaseMs)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  const heard: string[] = [];
  child.stdout?.on('data', (data: Buffer) => heard.push(...data.toString().trim().split('\n')));
  await expect.poll(() => heard, { timeout: 20_000 }).toContain('started');
  return { child, heard };
}

test('a killed worker: its job is taken over by presence, long before its lease runs out', async () => {
  await bench.add({ kind: 'hang' });
  const { child } = await startChild(LEASE_MS);
  const [held] = await bench.rows();
  const ran = gate();
  const worker = bench.start({
    hang: async (job, run) => {
      expect(job.attempts).toBe(1);
      await run.finish((tx) => addEffect('second').execute(tx));
      ran.open();
      return 'done';
    },
  });
  // While the child lives nobody touches its job, however long it takes.
  await worker.idle();
  expect(await bench.rows()).toMatchObject([{ lease_owner: held?.lease_owner, fence: held?.fence }]);
  child.kill('SIGKILL');
  await once(child, 'exit');
  await ran.opened;
  expect(bench.clock.nowMs()).toBeLessThan(Number(held?.lease_until_ms));
  expect(await effects()).toEqual(['second']);
  expect(await bench.rows()).toEqual([]);
});

test('fault 12: a worker frozen past its lease writes nothing when it wakes', async () => {
  await bench.add({ kind: 'hang' });
  const { child, heard } = await startChild(1_000);
  child.kill('SIGSTOP');
  const ran = gate();
  bench.start({
    hang: async (_job, run) => {
      await run.step((tx) => addEffect('second').execute(tx));
      ran.open();
      return { againAtMs: bench.clock.nowMs() + 600_000 };
    },
  });
  await ran.opened;
  await expect.poll(leaseOwner).toBeNull();
  const before = await bench.rows();
  child.kill('SIGCONT');
  child.stdin?.write('go\n');
  await expect.poll(() => heard).toContain('lost');
  expect(await effects()).toEqual(['second']);
  expect(await bench.rows()).toEqual(before);
});

test('N1, B11: of two holders of one lease only the later one changes anything', async () => {
  await bench.add({ kind: 'a' });
  const firstMayGoOn = gate();
  const firstDone = gate();
  const secondMayGoOn = gate();
  const failures: unknown[] = [];
  let begun = 0;
  const handler: JobHandler = async (_job, run) => {
    begun += 1;
    if (begun === 1) {
      await firstMayGoOn.opened;
      for (const change of [run.step.bind(run), run.finish.bind(run)]) {
        await change((tx) => addEffect('first').execute(tx)).catch((error: unknown) => failures.push(error));
      }
      firstDone.open();
      return 'done';
    }
    await secondMayGoOn.opened;
    await run.step((tx) => addEffect('second').execute(tx));
    return 'done';
  };
  // The first one never renews, nor looks for what it could take: to the database it looks like a process that is paused.
  bench.start({ a: handler }, { leaseMs: 200, renewEveryMs: 3_600_000, pollEveryMs: 3_600_000 });
  await expect.poll(() => begun).toBe(1);
  const second = bench.start({ a: handler }, { pollEveryMs: 50 });
  await expect.poll(() => begun).toBe(2);
  const held = await bench.rows();
  firstMayGoOn.open();
  await firstDone.opened;
  // Its completion ("done") has had every chance to be written.
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(failures).toHaveLength(2);
  expect(failures.every((error) => error instanceof LeaseLost)).toBe(true);
  expect(await bench.rows()).toEqual(held);
  expect(await effects()).toEqual([]);
  secondMayGoOn.open();
  await expect.poll(() => bench.rows()).toEqual([]);
  await second.idle();
  expect(await effects()).toEqual(['second']);
});

test('a completion that comes after another worker took the job hits no row', async () => {
  await bench.add({ kind: 'a' });
  const mayEnd = gate();
  let begun = 0;
  const handler: JobHandler = async () => {
    begun += 1;
    await mayEnd.opened;
    return 'done';
  };
  const worker = bench.start({ a: handler }, { renewEveryMs: 3_600_000 });
  await expect.poll(() => begun).toBe(1);
  // What a claim by another worker leaves.
  await sql`update job set fence = fence + 1, lease_owner = 1, lease_until_ms = ${bench.clock.nowMs() + LEASE_MS}`.execute(
    bench.db,
  );
  const before = await bench.rows();
  mayEnd.open();
  await worker.stop(5_000);
  expect(await bench.rows()).toEqual(before);
});

test('a claim skips a job with a step in flight, and an enqueue does not wait for it', async () => {
  await bench.add({ kind: 'a', uniqueKey: 'k' });
  const inStep = gate();
  const mayEnd = gate();
  bench.start(
    {
      a: async (_job, run) => {
        await run.finish(async (tx) => {
          inStep.open();
          await mayEnd.opened;
          await addEffect('run').execute(tx);
        });
        return 'done';
      },
    },
    { leaseMs: 100, renewEveryMs: 3_600_000 },
  );
  await inStep.opened;
  let othersRuns = 0;
  const other: JobHandler = async (_job, run) => {
    othersRuns += 1;
    await run.finish((tx) => addEffect('run').execute(tx));
    return 'done';
  };
  bench.start({ a: other }, { pollEveryMs: 50 });
  await bench.add({ kind: 'a', uniqueKey: 'k' });
  await new Promise((resolve) => setTimeout(resolve, 500));
  // The lease ran out long ago, yet the row is locked: the step decides first.
  expect(othersRuns).toBe(0);
  mayEnd.open();
  // Once for the first, once for the news that came during its step, by whoever is there first.
  await expect.poll(effects).toEqual(['run', 'run']);
  expect(await bench.rows()).toEqual([]);
});

test('a running job keeps its lease for as long as it takes', async () => {
  await bench.add({ kind: 'a' });
  const mayEnd = gate();
  let begun = 0;
  const handler: JobHandler = async (_job, run) => {
    begun += 1;
    await mayEnd.opened;
    expect(run.signal.aborted).toBe(false);
    await run.finish((tx) => addEffect('only').execute(tx));
    return 'done';
  };
  const first = bench.start({ a: handler }, { leaseMs: 3_000, renewEveryMs: 100 });
  await expect.poll(() => begun).toBe(1);
  bench.start({ a: handler }, { pollEveryMs: 50 });
  const [claimed] = await bench.rows();
  await expect.poll(async () => bench.clock.nowMs() > Number(claimed?.lease_until_ms) + 300).toBe(true);
  mayEnd.open();
  await first.idle();
  await expect.poll(effects).toEqual(['only']);
  expect(begun).toBe(1);
});

test('the database drops every connection: the run is aborted, its lease moves to a new number, and work continues', async () => {
  await bench.add({ kind: 'long' }, { kind: 'mid-step' });
  const mayEnd = gate();
  const inStep = gate();
  const begun: string[] = [];
  let aborted = false;
  const worker = bench.start({
    long: async (job, run) => {
      begun.push(job.kind);
      run.signal.addEventListener('abort', () => {
        aborted = true;
      });
      await mayEnd.opened;
      await run.finish((tx) => addEffect('long').execute(tx));
      return 'done';
    },
    'mid-step': async (job, run) => {
      begun.push(job.kind);
      await run.finish(async (tx) => {
        await addEffect('mid-step').execute(tx);
        inStep.open();
        await mayEnd.opened;
      });
      return 'done';
    },
    short: async (_job, run) => {
      await run.finish((tx) => addEffect('short').execute(tx));
      return 'done';
    },
  });
  await inStep.opened;
  await expect.poll(() => begun.length).toBe(2);
  const before = await leaseOwner();
  // A statement in flight loses its connection too.
  const inFlight = sql`select pg_sleep(20)`.execute(bench.db).catch((error: unknown) => error);
  await terminateAll();
  expect(await inFlight).toBeInstanceOf(Error);
  await expect.poll(() => aborted).toBe(true);
  await expect.poll(async () => (await leaseOwner()) !== before).toBe(true);
  await bench.add({ kind: 'short' });
  await expect.poll(effects).toEqual(['short']);
  mayEnd.open();
  await expect.poll(async () => (await effects()).toSorted()).toEqual(['long', 'mid-step', 'short']);
  await worker.idle();
  expect(await bench.rows()).toEqual([]);
  // The transaction that was cut was rolled back and its job run again, without counting as its failure.
  expect(begun.toSorted()).toEqual(['long', 'mid-step', 'mid-step']);
});

/** Ends every connection to the test's database, from outside. */
async function terminateAll(): Promise<void> {
  const url = new URL(bench.url);
  const database = url.pathname.slice(1);
  url.pathname = '/postgres';
  const session = await openSession(url.href);
  await session.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
    database,
  ]);
  await session.end();
}
