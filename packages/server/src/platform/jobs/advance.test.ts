import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { MERCHANT, openWorkbench, type Workbench } from '../../../../../test/jobs/workbench.ts';
import { transact } from '../db/transact.ts';
import { advanceClockJobs, hastenClockJobs } from './index.ts';

let bench: Workbench;
beforeAll(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.clear());
afterAll(() => bench.close());

test('a planned run may stop following the clock and follow it again; by default it keeps doing what it did', async () => {
  await bench.add({ kind: 'a', followsClock: true });
  const plans = [{}, { followsClock: false }, {}, { followsClock: true }];
  const followed: boolean[] = [];
  for (const plan of plans) {
    await sql`update job set due_at_ms = 0`.execute(bench.db);
    const worker = bench.start({ a: async () => ({ againAtMs: bench.clock.nowMs() + 600_000, ...plan }) });
    await worker.idle();
    await worker.stop(0);
    followed.push(...(await bench.rows()).map((row) => row.follows_clock));
  }
  expect(followed).toEqual([true, false, false, true]);
});

test('moving the clock moves the jobs that follow it, and makes due those that wait for the new time', async () => {
  const nowMs = bench.clock.nowMs();
  const dueAtMs = nowMs + 10_000;
  const kinds = ['follows', 'held', 'real'] as const;
  await bench.add(...kinds.map((kind) => ({ kind, dueAtMs, followsClock: kind === 'follows' })));
  const move = { ms: 4_000, nowMs, retryKinds: ['held'] };
  await transact(bench.db, (tx) => advanceClockJobs(tx, MERCHANT, move));
  const due = (await bench.rows()).map((row) => [row.kind, Number(row.due_at_ms) - nowMs, row.revision]);
  expect(due).toEqual([
    ['held', 0, 1],
    ['follows', 6_000, 1],
    ['real', 10_000, 0],
  ]);
});

test('jobs of the named kinds that the clock would make due are due now, and no others', async () => {
  const nowMs = bench.clock.nowMs();
  const dueAtMs = nowMs + 10_000;
  await bench.add(
    { kind: 'look', uniqueKey: 'near', dueAtMs, followsClock: true },
    { kind: 'look', uniqueKey: 'far', dueAtMs: dueAtMs + 1, followsClock: true },
    { kind: 'look', uniqueKey: 'real', dueAtMs },
    { kind: 'other', uniqueKey: 'near', dueAtMs, followsClock: true },
  );
  const hasten = (untilMs: number) =>
    transact(bench.db, (tx) => hastenClockJobs(tx, MERCHANT, { kinds: ['look'], untilMs, nowMs }));
  expect(await hasten(dueAtMs - 1)).toBe(false);
  expect(await hasten(dueAtMs)).toBe(true);
  const rows = await bench.rows();
  const due = rows.map((row) => [`${row.kind} ${row.unique_key}`, Number(row.due_at_ms) - nowMs]);
  expect(Object.fromEntries(due)).toEqual({
    'look near': 0,
    'look far': 10_001,
    'look real': 10_000,
    'other near': 10_000,
  });
});
