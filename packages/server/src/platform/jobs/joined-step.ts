import { AsyncLocalStorage } from 'node:async_hooks';
import { sql } from 'kysely';
import { loaderPer } from '../db/batch-loader.ts';
import type { Db, Tx } from '../db/db.ts';
import { sideBySide } from '../db/side-by-side.ts';
import { CommitUnknown } from '../db/transact.ts';
import type { JobRun } from './job.ts';
import { joinRuns } from './run.ts';

/** So many go in one transaction: it holds the locks of all of them until it ends. */
const STEPS_MAX = 100;
/** What comes meanwhile waits for those under way, so that it goes together too. */
const STEPS_WAIT_MS = 1_000;
/**
 * Many do not wait for a lock that one of them needs: they are done one by one then. Shorter than PostgreSQL waits before
 * it looks for a deadlock, which ends here as well.
 */
const LOCK_MS = 800;

/**
 * A plan for arrays of any length takes them for short and merchants for average: a merchant who is a hundred times as
 * large would be read as a whole. Planned for what is there, each statement once for a hundred steps.
 */
const OF_MANY = `set local lock_timeout = ${LOCK_MS}; set local plan_cache_mode = force_custom_plan`;

/** A step of one run that may go with those of other runs. */
export interface JoinableStep<T> {
  run: JobRun;
  /**
   * Names of what it locks, or reads and writes: steps that have one in common never go together. Those that do go in
   * the order of their first ones, so that two such transactions mostly wait for each other instead of deadlocking.
   */
  locks: readonly [string, ...string[]];
  change: (tx: Tx) => Promise<T>;
}

export interface JoinedStepOptions<T> {
  /** Whether the jobs are done with it. */
  isLast?: boolean;
  /** Comes after all changes of a transaction: what would otherwise be locked by the first one until the last one ends. */
  lastly?: (tx: Tx, merchantId: string, results: readonly T[]) => Promise<void>;
}

/** Whose steps they are. */
interface StepOwner {
  merchantId: string;
  /** Steps of one group go together (one group). */
  group?: string;
}

/**
 * Steps of a kind that are asked for at the same time, of one merchant and group, share transactions. Each is as if it
 * had been alone: where one fails, or has lost its job, or waits, the others are done without it.
 *
 * @returns does a step. It throws as `JobRun.step` and `JobRun.finish`
 */
export function joinedStep<T>(
  options: JoinedStepOptions<T> = {},
): (db: Db, owner: StepOwner, step: JoinableStep<T>) => Promise<T> {
  const stepsOf = loaderPer<Db, OwnedStep<T>, PromiseSettledResult<T>>(() => ({
    loadBatch: (_key, steps) => takeAll(steps, options),
    maxBatch: STEPS_MAX,
    overlapAfterMs: STEPS_WAIT_MS,
  }));
  return async (db, { merchantId, group = '' }, step) => {
    const { run, locks } = step;
    // Whoever comes first begins the transaction; each is traced as its own.
    const change = AsyncLocalStorage.bind(step.change);
    const ended = await stepsOf(db).load(`${merchantId} ${group}`, { merchantId, run, locks, change });
    if (ended.status === 'rejected') throw ended.reason;
    return ended.value;
  };
}

interface OwnedStep<T> extends JoinableStep<T> {
  merchantId: string;
}

async function takeAll<T>(
  steps: readonly OwnedStep<T>[],
  options: JoinedStepOptions<T>,
): Promise<PromiseSettledResult<T>[]> {
  const ended = new Map<OwnedStep<T>, PromiseSettledResult<T>>();
  for (const round of roundsOf(steps)) {
    const results = await takeRound(round, options);
    for (const [i, step] of round.entries()) ended.set(step, results[i] as PromiseSettledResult<T>);
  }
  return steps.map((step) => ended.get(step) as PromiseSettledResult<T>);
}

/** Rounds in which no two steps have a lock in common. */
export function roundsOf<S extends Pick<JoinableStep<unknown>, 'locks'>>(steps: readonly S[]): S[][] {
  const rounds: { steps: S[]; taken: Set<string> }[] = [];
  for (const step of steps.toSorted((a, b) => (a.locks[0] < b.locks[0] ? -1 : 1))) {
    const free = rounds.find(({ taken }) => !step.locks.some((lock) => taken.has(lock)));
    const round = free ?? { steps: [], taken: new Set() };
    if (free === undefined) rounds.push(round);
    round.steps.push(step);
    for (const lock of step.locks) round.taken.add(lock);
  }
  return rounds.map((round) => round.steps);
}

async function takeRound<T>(
  steps: readonly OwnedStep<T>[],
  options: JoinedStepOptions<T>,
): Promise<PromiseSettledResult<T>[]> {
  try {
    const results = await takeTogether(steps, options);
    return results.map((value) => ({ status: 'fulfilled', value }));
  } catch (reason) {
    // What may have been written is not done again before each has looked.
    const isOver = steps.length === 1 || reason instanceof CommitUnknown;
    if (isOver) return steps.map(() => ({ status: 'rejected', reason }));
    return (await Promise.all(steps.map((step) => takeRound([step], options)))).flat();
  }
}

function takeTogether<T>(
  steps: readonly OwnedStep<T>[],
  { isLast = false, lastly }: JoinedStepOptions<T>,
): Promise<T[]> {
  const [first] = steps;
  const run = joinRuns(steps.map((step) => step.run));
  const change = async (tx: Tx) => {
    if (steps.length > 1) await sql.raw(OF_MANY).execute(tx);
    const results = await sideBySide(
      tx,
      steps.map((step) => step.change),
    );
    if (first !== undefined) await lastly?.(tx, first.merchantId, results);
    return results;
  };
  return isLast ? run.finish(change) : run.step(change);
}
