import { sql } from 'kysely';
import type { Db, Tx } from '../db/db.ts';
import { loaderPer } from '../db/loaders/batch-loader.ts';
import { CommitUnknown } from '../db/transact.ts';
import { invariant } from '../fail.ts';
import type { JobRun } from './job.ts';
import { joinRuns } from './run.ts';

/** At most this many steps per transaction, because it holds the locks of all of them until it ends. */
const STEPS_MAX = 100;
/** Steps that arrive while a batch runs wait for it up to this long, and run together in the next one. */
const STEPS_WAIT_MS = 1_000;
/**
 * A batch that waits longer for a lock fails, and its steps run one by one. Shorter than PostgreSQL's deadlock_timeout
 * (1 s), so it also ends a deadlock between two batches.
 */
const LOCK_MS = 800;

/**
 * Besides the lock timeout, each batch is planned by its own parameters: a generic plan assumes ten elements in an array
 * and an average merchant, and for a hundred elements of a large merchant it may scan a whole table.
 */
const BATCH_SETTINGS = `set local lock_timeout = ${LOCK_MS}; set local plan_cache_mode = force_custom_plan`;

/** Names of the resources that a step locks, or reads and writes, such as the id of a subscription. */
type Locks = readonly [string, ...string[]];

export interface BatchStepOptions<Item, Result> {
  /** Items that share a name never run in one batch. A batch is sorted by the first name of each item. */
  locksOf: (item: Item) => Locks;
  /** Locks what all items need, decides each and writes arrays. @returns the results in the order of the items */
  change: (tx: Tx, items: readonly Item[]) => Promise<readonly Result[]>;
  /** Whether the step is the last one of its job; the job is done with it. */
  isLast?: boolean;
}

/** One job's part of a batch. */
interface JobStep<Item> {
  run: JobRun;
  item: Item;
}

/**
 * Batches concurrent steps of jobs of one kind: up to 100 steps with the same key run in one transaction under the
 * leases of all their runs. If the batch fails, or waits 0.8 s for a lock, each step runs again in its own transaction,
 * so only the failing step fails. After `CommitUnknown` no step is repeated: each job runs again and reads the
 * committed state.
 *
 * @returns a function that runs the step of one job. Its `key` must begin with the merchant's id, because a batch
 *   belongs to one merchant. It throws like `JobRun.step` and `JobRun.finish`
 */
export function batchStep<Item, Result>(
  options: BatchStepOptions<Item, Result>,
): (db: Db, key: string, step: JobStep<Item>) => Promise<Result> {
  const stepsOf = loaderPer<Db, JobStep<Item>, PromiseSettledResult<Result>>(() => ({
    loadBatch: (_key, steps) => runAll(steps, options),
    maxBatch: STEPS_MAX,
    overlapAfterMs: STEPS_WAIT_MS,
  }));
  return async (db, key, step) => {
    const ended = await stepsOf(db).load(key, step);
    if (ended.status === 'rejected') throw ended.reason;
    return ended.value;
  };
}

type Results<Item, Result> = [JobStep<Item>, PromiseSettledResult<Result>][];

async function runAll<Item, Result>(
  steps: readonly JobStep<Item>[],
  options: BatchStepOptions<Item, Result>,
): Promise<PromiseSettledResult<Result>[]> {
  const results: Results<Item, Result> = [];
  for (const round of roundsOf(steps, ({ item }) => options.locksOf(item)))
    results.push(...(await runRound(round, options)));
  const byStep = new Map(results);
  return steps.map((step) => {
    const result = byStep.get(step);
    invariant(result !== undefined, 'each step is in one round');
    return result;
  });
}

/** Rounds in which no two steps have a lock in common. */
export function roundsOf<Step>(steps: readonly Step[], locksOf: (step: Step) => Locks): Step[][] {
  const rounds: { steps: Step[]; taken: Set<string> }[] = [];
  const named = steps.map((step) => ({ step, locks: locksOf(step) }));
  for (const { step, locks } of named.toSorted((a, b) => (a.locks[0] < b.locks[0] ? -1 : 1))) {
    const free = rounds.find(({ taken }) => !locks.some((lock) => taken.has(lock)));
    const round = free ?? { steps: [], taken: new Set() };
    if (free === undefined) rounds.push(round);
    round.steps.push(step);
    for (const lock of locks) round.taken.add(lock);
  }
  return rounds.map((round) => round.steps);
}

async function runRound<Item, Result>(
  steps: readonly JobStep<Item>[],
  options: BatchStepOptions<Item, Result>,
): Promise<Results<Item, Result>> {
  try {
    return await runTogether(steps, options);
  } catch (reason) {
    const isOver = steps.length === 1 || reason instanceof CommitUnknown;
    if (isOver) return steps.map((step) => [step, { status: 'rejected', reason }]);
    return (await Promise.all(steps.map((step) => runRound([step], options)))).flat();
  }
}

async function runTogether<Item, Result>(
  steps: readonly JobStep<Item>[],
  { change, isLast = false }: BatchStepOptions<Item, Result>,
): Promise<Results<Item, Result>> {
  const run = joinRuns(steps.map((step) => step.run));
  const items = steps.map(({ item }) => item);
  const changeAll = async (tx: Tx) => {
    if (steps.length > 1) await sql.raw(BATCH_SETTINGS).execute(tx);
    const values = await change(tx, items);
    invariant(values.length === items.length, 'a batch returns one result for each item');
    return [...values.entries()].flatMap(([i, value]): Results<Item, Result> => {
      const step = steps[i];
      return step === undefined ? [] : [[step, { status: 'fulfilled', value }]];
    });
  };
  return await (isLast ? run.finish(changeAll) : run.step(changeAll));
}
