import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { gate, MERCHANT, openWorkbench, type Workbench } from '../../../../../test/jobs/workbench.ts';
import type { Tx } from '../db/db.ts';
import { CommitUnknown, transact } from '../db/transact.ts';
import { type BatchStepOptions, batchStep, roundsOf } from './batch-step.ts';
import type { JobHandler, JobRun } from './index.ts';

let bench: Workbench;
beforeAll(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.clear());
afterAll(() => bench.close());

const JOBS = 20;
const addJobs = () =>
  bench.add(...Array.from({ length: JOBS }, (_, n) => ({ kind: 'a', uniqueKey: `${n}`, payload: { n } })));
/** What stands, with the number of its transaction. */
async function effects(): Promise<{ names: string[]; transactions: number }> {
  const { rows } = await sql<{ worker: string; xmin: string }>`
    select worker, xmin::text from effect order by worker::int`.execute(bench.db);
  return { names: rows.map((row) => row.worker), transactions: new Set(rows.map((row) => row.xmin)).size };
}
const addEffects = (tx: Tx, numbers: readonly number[]) =>
  sql`insert into effect (worker) select * from unnest(${numbers.map(String)}::text[])`.execute(tx);
const all = Array.from({ length: JOBS }, (_, n) => String(n));
const without = (...left: number[]) => all.filter((name) => !left.includes(Number(name)));
const locksOf = (n: number): [string] => [String(n).padStart(2, '0')];

/** A step whose items are the numbers of their jobs; they write their effects before the rest of the change. */
function stepOf(
  change: (tx: Tx, numbers: readonly number[]) => Promise<unknown> = async () => {},
  options: Partial<BatchStepOptions<number, number>> = {},
): (run: JobRun, n: number) => Promise<number> {
  const step = batchStep<number, number>({
    locksOf,
    change: async (tx, numbers) => {
      await addEffects(tx, numbers);
      await change(tx, numbers);
      return numbers.map((n) => n * 2);
    },
    ...options,
  });
  return (run, item) => step(bench.db, MERCHANT, { run, item });
}

const handlerOf =
  (step: ReturnType<typeof stepOf>): JobHandler =>
  async ({ payload }, run) => {
    await step(run, Number(payload.n));
    return 'done';
  };

test('steps of jobs that run at the same time are one transaction, and each job is done', async () => {
  const step = stepOf();
  const heard: number[] = [];
  const worker = bench.start({
    a: async ({ payload }, run) => {
      const n = Number(payload.n);
      heard[n] = await step(run, n);
      return 'done';
    },
  });
  await addJobs();
  await worker.idle();
  expect(heard).toEqual(all.map((name) => Number(name) * 2));
  expect(await effects()).toEqual({ names: all, transactions: 1 });
  expect(await bench.rows()).toEqual([]);
});

test('a batch is planned for the rows that are there, a step alone is not', async () => {
  const modes = new Set<string>();
  const step = stepOf(async (tx) => {
    const { rows } = await sql<{ plan_cache_mode: string }>`show plan_cache_mode`.execute(tx);
    modes.add(rows[0]?.plan_cache_mode ?? '');
  });
  const worker = bench.start({ a: handlerOf(step) });
  await addJobs();
  await worker.idle();
  expect(modes).toEqual(new Set(['force_custom_plan']));
  modes.clear();
  await bench.add({ kind: 'a', uniqueKey: '0', payload: { n: 0 } });
  await worker.idle();
  expect(modes).toEqual(new Set(['auto']));
});

test('last steps take their jobs with them, and their items are sorted by what they lock', async () => {
  const seen: number[][] = [];
  const step = stepOf(async (_tx, numbers) => seen.push([...numbers]), { isLast: true });
  let ended = 0;
  const worker = bench.start({
    a: async ({ payload }, run) => {
      await step(run, Number(payload.n));
      const left = await bench.rows();
      if (left.length === 0) ended += 1;
      return { againAtMs: bench.clock.nowMs() };
    },
  });
  await addJobs();
  await worker.idle();
  expect(seen).toEqual([all.map(Number)]);
  expect(ended).toBe(JOBS);
  expect(await effects()).toEqual({ names: all, transactions: 1 });
});

test('steps that have a lock in common go in transactions of their own', async () => {
  const batches: number[][] = [];
  const step = stepOf(async (_tx, numbers) => batches.push([...numbers]), {
    locksOf: (n) => [`own ${n}`, n < 3 ? 'shared' : `shared ${n}`],
  });
  const worker = bench.start({ a: handlerOf(step) });
  await addJobs();
  await worker.idle();
  expect((await effects()).names).toEqual(all);
  for (const batch of batches) expect(batch.filter((n) => n < 3).length).toBeLessThan(2);
  expect(batches).toHaveLength(3);
});

test('one that fails fails alone, with its own error', async () => {
  const step = stepOf(
    async (tx, numbers) => {
      if (numbers.includes(3)) throw new Error('not three');
      if (numbers.includes(4)) await sql`select 1 / ${0}::int`.execute(tx);
    },
    { isLast: true },
  );
  const worker = bench.start({ a: handlerOf(step) });
  await addJobs();
  await expect
    .poll(async () =>
      (await bench.rows())
        .map((row) => row.last_error?.split('\n')[0])
        .toSorted((a = '', b = '') => (a < b ? -1 : 1)),
    )
    .toEqual(['DatabaseError: division by zero', 'Error: not three']);
  await worker.stop(1_000);
  expect((await effects()).names).toEqual(without(3, 4));
});

test('where the answer to COMMIT is lost, no step is repeated: each job reads its state again', async () => {
  const batches: number[][] = [];
  let isLost = false;
  const step = stepOf(async (_tx, numbers) => {
    batches.push([...numbers]);
    if (isLost) return;
    isLost = true;
    throw new CommitUnknown(new Error('the line is dead'));
  });
  const failures: unknown[] = [];
  const worker = bench.start({
    a: async ({ payload }, run) => {
      await step(run, Number(payload.n)).catch((error: unknown) => failures.push(error));
      return 'done';
    },
  });
  await addJobs();
  await worker.idle();
  expect(batches).toEqual([all.map(Number)]);
  expect(failures).toHaveLength(JOBS);
  for (const failure of failures) expect(failure).toBeInstanceOf(CommitUnknown);
});

test('N1: one whose job another worker has taken over writes nothing, the others are not held up', async () => {
  const step = stepOf(undefined, { isLast: true });
  let isRobbed = false;
  const handler: JobHandler = async ({ payload }, run) => {
    const n = Number(payload.n);
    if (n === 5 && !isRobbed) {
      isRobbed = true;
      await sql`update job set fence = fence + 1 where payload ->> 'n' = '5'`.execute(bench.db);
    }
    // So that nobody's step begins before the robbery.
    await expect.poll(() => isRobbed).toBe(true);
    await step(run, n);
    return 'done';
  };
  bench.start({ a: handler });
  await addJobs();
  await expect.poll(async () => (await bench.rows()).length).toBe(1);
  await expect.poll(async () => (await effects()).names).toEqual(without(5));
  expect(await bench.rows()).toMatchObject([{ payload: { n: 5 } }]);
});

test('one whose row somebody else holds waits alone', async () => {
  const step = stepOf(
    async (tx, numbers) => {
      if (numbers.includes(6)) await sql`lock table other in exclusive mode`.execute(tx);
    },
    { isLast: true },
  );
  const held = gate();
  const worker = bench.start({ a: handlerOf(step) });
  await sql`create table other ()`.execute(bench.db);
  const holder = transact(bench.db, async (tx) => {
    await sql`lock table other in exclusive mode`.execute(tx);
    await held.opened;
  });
  await addJobs();
  try {
    await expect.poll(async () => (await effects()).names, { timeout: 20_000 }).toEqual(without(6));
  } finally {
    held.open();
    await holder;
  }
  await worker.idle();
  expect((await effects()).names).toEqual(all);
});

test('steps that lock the same thing never go together, and each goes once', () => {
  const names = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(fc.array(names, { maxLength: 20 }), (locks) => {
      const steps = locks.map((own) => ({ locks: own as [string, ...string[]] }));
      const rounds = roundsOf(steps, (step) => step.locks);
      expect(new Set(rounds.flat())).toEqual(new Set(steps));
      expect(rounds.flat()).toHaveLength(steps.length);
      for (const round of rounds) {
        const taken = round.flatMap((own) => [...new Set(own.locks)]);
        expect(taken).toHaveLength(new Set(taken).size);
        const firsts = round.map((own) => own.locks[0]);
        expect(firsts).toEqual(firsts.toSorted());
      }
    }),
  );
});
