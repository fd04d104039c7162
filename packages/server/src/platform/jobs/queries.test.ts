import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { MERCHANT, openWorkbench, type Workbench } from '../../../../../test/jobs/workbench.ts';
import { transact } from '../db/transact.ts';
import { RUN_AGAIN } from './decisions.ts';
import { type ClaimedJob, newFence } from './job.ts';
import { claimJobs, lockLease, releaseJobs, removeJobs, renewLeases } from './queries.ts';

let bench: Workbench;
beforeAll(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.clear());
afterAll(() => bench.close());

function claim(limit: number, owner = 1, lowPriorityKinds: string[] = []): Promise<ClaimedJob[]> {
  const nowMs = bench.clock.nowMs();
  const claimable = { nowMs, kinds: ['a', 'patient'], deadOwners: [], lowPriorityKinds };
  return claimJobs(bench.db, MERCHANT, {
    ...claimable,
    owner,
    fence: newFence(),
    leaseUntilMs: nowMs + 30_000,
    limit,
  });
}

test('a claim takes no more than its limit, the longest due first, and never what is taken', async () => {
  const now = bench.clock.nowMs();
  const specs = [3, 1, 4, 2].map((age) => ({ kind: 'a', dueAtMs: now - age * 1_000, payload: { age } }));
  await bench.add(...specs);
  expect((await claim(3)).map((job) => job.payload.age)).toEqual([4, 3, 2]);
  expect((await claim(3, 2)).map((job) => job.payload.age)).toEqual([1]);
  expect(await claim(3)).toEqual([]);
});

test('jobs of low-priority kinds come after those that are due later, and fill up each claim', async () => {
  const now = bench.clock.nowMs();
  const specs = [9, 8, 7, 3, 2].map((age) => ({
    kind: age > 5 ? 'patient' : 'a',
    dueAtMs: now - age * 1_000,
    payload: { age },
  }));
  await bench.add(...specs);
  expect((await claim(3, 1, ['patient'])).map((job) => job.payload.age)).toEqual([3, 2, 9]);
  expect((await claim(3, 1, ['patient'])).map((job) => job.payload.age)).toEqual([8, 7]);
});

test('claims at the same moment share the jobs between them', async () => {
  await bench.add(...Array.from({ length: 60 }, () => ({ kind: 'a' })));
  const claims = await Promise.all([1, 2, 3, 4].map((owner) => claim(20, owner)));
  const ids = claims.flat().map((job) => job.jobId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(claims.every((jobs) => jobs.length <= 20)).toBe(true);
});

test('a lease that was given back allows no write any more, though nobody has taken the job since', async () => {
  await bench.add({ kind: 'a' });
  const jobs = await claim(1);
  const renewal = { owner: 1, leaseUntilMs: bench.clock.nowMs() + 60_000 };
  const lock = async () =>
    transact(bench.db, async (tx) => Promise.all(jobs.map((job) => lockLease(tx, MERCHANT, job))));
  expect(await lock()).toEqual([true]);
  expect((await renewLeases(bench.db, MERCHANT, jobs, renewal)).size).toBe(1);
  const changes = jobs.map((job) => ({ lease: job, release: RUN_AGAIN }));
  const release = () => releaseJobs(bench.db, MERCHANT, changes);
  expect((await release()).lost.size).toBe(0);
  const before = await bench.rows();
  expect(await lock()).toEqual([false]);
  expect((await renewLeases(bench.db, MERCHANT, jobs, renewal)).size).toBe(0);
  expect((await release()).lost.size).toBe(1);
  expect((await removeJobs(bench.db, MERCHANT, jobs)).lost.size).toBe(1);
  expect(await bench.rows()).toEqual(before);
});

test('no two claims share a token, though nothing came of the first', async () => {
  await bench.add({ kind: 'a' });
  const [first] = await claim(1);
  await sql`update job set fence = 0, lease_owner = null, lease_until_ms = null`.execute(bench.db);
  const [second] = await claim(1);
  expect(second?.jobId).toBe(first?.jobId);
  expect(second?.fence).not.toBe(first?.fence);
  expect((await removeJobs(bench.db, MERCHANT, first ? [first] : [])).lost.size).toBe(1);
  expect(await bench.rows()).toHaveLength(1);
});

test('the same lease under another merchant hits nothing', async () => {
  await bench.add({ kind: 'a' });
  const jobs = await claim(1);
  const other = '00000000-0000-7000-8000-000000000001';
  expect((await removeJobs(bench.db, other, jobs)).lost.size).toBe(1);
  expect(await bench.rows()).toHaveLength(1);
});
