import { AsyncLocalStorage } from 'node:async_hooks';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { gate, MERCHANT, openWorkbench, type Workbench } from '../../../../../test/jobs/workbench.ts';
import type { Tx } from '../db/db.ts';
import { transact } from '../db/transact.ts';
import { type JobHandler, joinedStep } from './index.ts';
import { roundsOf } from './joined-step.ts';

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
const addEffect = (tx: Tx, n: number) => sql`insert into effect (worker) values (${String(n)})`.execute(tx);
const all = Array.from({ length: JOBS }, (_, n) => String(n));
const without = (...left: number[]) => all.filter((name) => !left.includes(Number(name)));

test('steps of jobs that run at the same time are one transaction, and each job is done', async () => {
  const step = joinedStep<number>();
  const heard: number[] = [];
  const worker = bench.start({
    a: async ({ payload }, run) => {
      const n = Number(payload.n);
      const change = async (tx: Tx) => {
        await addEffect(tx, n);
        return n * 2;
      };
      heard[n] = await step(bench.db, { merchantId: MERCHANT }, { run, locks: [`${n}`], change });
      return 'done';
    },
  });
  await addJobs();
  await worker.idle();
  expect(heard).toEqual(all.map((name) => Number(name) * 2));
  expect(await effects()).toEqual({ names: all, transactions: 1 });
  expect(await bench.rows()).toEqual([]);
});

test('steps that go together are planned for the rows that are there, one alone is not', async () => {
  const modes = new Set<string>();
  const step = joinedStep<void>();
  const worker = bench.start({
    a: async ({ payload }, run) => {
      const change = async (tx: Tx) => {
        const { rows } = await sql<{ plan_cache_mode: string }>`show plan_cache_mode`.execute(tx);
        modes.add(rows[0]?.plan_cache_mode ?? '');
      };
      await step(bench.db, { merchantId: MERCHANT }, { run, locks: [String(payload.n)], change });
      return 'done';
    },
  });
  await addJobs();
  await worker.idle();
  expect(modes).toEqual(new Set(['force_custom_plan']));
  modes.clear();
  await bench.add({ kind: 'a', uniqueKey: '0', payload: { n: 0 } });
  await worker.idle();
  expect(modes).toEqual(new Set(['auto']));
});

test('last steps take their jobs with them, after what comes last has seen the result of each', async () => {
  const seen: number[][] = [];
  const step = joinedStep<number>({
    isLast: true,
    lastly: async (tx, merchantId, results) => {
      expect(merchantId).toBe(MERCHANT);
      seen.push([...results]);
      await addEffect(tx, 1_000);
    },
  });
  let ended = 0;
  const worker = bench.start({
    a: async ({ payload }, run) => {
      const n = Number(payload.n);
      const change = async (tx: Tx) => {
        await addEffect(tx, n);
        return n;
      };
      await step(bench.db, { merchantId: MERCHANT }, { run, locks: [String(n).padStart(2, '0')], change });
      const left = await bench.rows();
      if (left.length === 0) ended += 1;
      return { againAtMs: bench.clock.nowMs() };
    },
  });
  await addJobs();
  await worker.idle();
  expect(seen).toEqual([all.map(Number)]);
  expect(ended).toBe(JOBS);
  expect(await effects()).toEqual({ names: [...all, '1000'], transactions: 1 });
});

test('one that fails fails alone, with its own error', async () => {
  const step = joinedStep<void>({ isLast: true });
  const worker = bench.start({
    a: async ({ payload }, run) => {
      const n = Number(payload.n);
      const change = async (tx: Tx) => {
        await addEffect(tx, n);
        if (n === 3) throw new Error('not three');
        if (n === 4) await sql`select 1 / ${0}::int`.execute(tx);
      };
      await step(bench.db, { merchantId: MERCHANT }, { run, locks: [`${n}`], change });
      return 'done';
    },
  });
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

test('N1: one whose job another worker has taken over writes nothing, the others are not held up', async () => {
  const step = joinedStep<void>({ isLast: true });
  let isRobbed = false;
  const handler: JobHandler = async ({ payload }, run) => {
    const n = Number(payload.n);
    if (n === 5 && !isRobbed) {
      isRobbed = true;
      await sql`update job set fence = fence + 1 where payload ->> 'n' = '5'`.execute(bench.db);
    }
    // So that nobody's step begins before the robbery.
    await expect.poll(() => isRobbed).toBe(true);
    await step(
      bench.db,
      { merchantId: MERCHANT },
      {
        run,
        locks: [`${n}`],
        change: async (tx) => void (await addEffect(tx, n)),
      },
    );
    return 'done';
  };
  bench.start({ a: handler });
  await addJobs();
  await expect.poll(async () => (await bench.rows()).length, { timeout: 5_000 }).toBe(1);
  await expect.poll(async () => (await effects()).names).toEqual(without(5));
  expect(await bench.rows()).toMatchObject([{ payload: { n: 5 } }]);
});

test('one whose row somebody else holds waits alone, in its own trace', async () => {
  const step = joinedStep<void>({ isLast: true });
  const held = gate();
  const trace = new AsyncLocalStorage<number>();
  const traces: (number | undefined)[] = [];
  const worker = bench.start({
    a: async ({ payload }, run) => {
      const n = Number(payload.n);
      const change = async (tx: Tx) => {
        traces[n] = trace.getStore();
        if (n === 6) await sql`lock table other in exclusive mode`.execute(tx);
        await addEffect(tx, n);
      };
      await trace.run(n, () => step(bench.db, { merchantId: MERCHANT }, { run, locks: [`${n}`], change }));
      return 'done';
    },
  });
  await sql`create table other ()`.execute(bench.db);
  const holder = transact(bench.db, async (tx) => {
    await sql`lock table other in exclusive mode`.execute(tx);
    await held.opened;
  });
  await addJobs();
  await expect.poll(async () => (await effects()).names, { timeout: 5_000 }).toEqual(without(6));
  held.open();
  await holder;
  await worker.idle();
  expect((await effects()).names).toEqual(all);
  expect(traces).toEqual(all.map(Number));
});

test('steps that lock the same thing never go together, and each goes once', () => {
  const names = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(fc.array(names, { maxLength: 20 }), (locks) => {
      const steps = locks.map((own) => ({ locks: own as [string, ...string[]] }));
      const rounds = roundsOf(steps);
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
