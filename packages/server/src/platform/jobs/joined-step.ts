import type { Db, Tx } from '../db.ts';
import { gatherBy } from '../gather.ts';
import { sideBySide } from '../side-by-side.ts';
import type { JobRun } from './job.ts';
import { joinRuns } from './run.ts';

/** So many go in one transaction: it holds the locks of all of them until it ends. */
const STEPS_MAX = 100;
/** What comes meanwhile waits for those under way, so that it goes together too; not for locks that others hold for long. */
const STEPS_WAIT_MS = 1_000;

/** A step of one run that may go with those of other runs. */
export interface JoinableStep<T> {
  run: JobRun;
  /**
   * Names of what it locks, or reads and writes: steps that have one in common never go together. All go in the order
   * of their first ones, so that two transactions of many of them wait for each other instead of deadlocking.
   */
  locks: readonly [string, ...string[]];
  change: (tx: Tx) => Promise<T>;
}

export interface JoinedStepOptions<T> {
  /** Whether the jobs are done with it. */
  isLast?: boolean;
  /** Comes after all changes of a transaction: what would otherwise be locked by the first one until the last one ends. */
  lastly?: (tx: Tx, results: readonly T[]) => Promise<void>;
}

/**
 * Steps of a kind that are asked for at the same time, with the same key and of one merchant, share transactions. Each is
 * as if it had been alone: where one fails, or has lost its job, the others are done without it.
 *
 * @returns does a step. It throws as `JobRun.step` and `JobRun.finish`
 */
export function joinedStep<T>(
  options: JoinedStepOptions<T> = {},
): (db: Db, key: string, step: JoinableStep<T>) => Promise<T> {
  const stepsOf = gatherBy<Db, JoinableStep<T>, PromiseSettledResult<T>>(() => ({
    load: (_key, steps) => takeAll(steps, options),
    most: STEPS_MAX,
    patienceMs: STEPS_WAIT_MS,
  }));
  return async (db, key, step) => {
    const ended = await stepsOf(db).ask(key, step);
    if (ended.status === 'rejected') throw ended.reason;
    return ended.value;
  };
}

async function takeAll<T>(
  steps: readonly JoinableStep<T>[],
  options: JoinedStepOptions<T>,
): Promise<PromiseSettledResult<T>[]> {
  const ended = new Map<JoinableStep<T>, PromiseSettledResult<T>>();
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
  steps: readonly JoinableStep<T>[],
  options: JoinedStepOptions<T>,
): Promise<PromiseSettledResult<T>[]> {
  try {
    const results = await takeTogether(steps, options);
    return results.map((value) => ({ status: 'fulfilled', value }));
  } catch (reason) {
    if (steps.length === 1) return [{ status: 'rejected', reason }];
    return (await Promise.all(steps.map((step) => takeRound([step], options)))).flat();
  }
}

function takeTogether<T>(
  steps: readonly JoinableStep<T>[],
  { isLast = false, lastly }: JoinedStepOptions<T>,
): Promise<T[]> {
  const run = joinRuns(steps.map((step) => step.run));
  const change = async (tx: Tx) => {
    const results = await sideBySide(
      tx,
      steps.map((step) => step.change),
    );
    await lastly?.(tx, results);
    return results;
  };
  return isLast ? run.finish(change) : run.step(change);
}
