import { inspect } from 'node:util';
import { type ClaimedJob, type JobOutcome, LeaseLost } from './job.ts';

const BACK_OFF_FIRST_MS = 1_000;
const BACK_OFF_MAX_MS = 300_000;
const POLL_APART_MAX_MS = 5_000;
const LAST_ERROR_LENGTH_MAX = 500;

/** How a run ended. `interrupted`: stopped or overtaken, which does not count as a failure. */
export type Ending =
  | { type: 'returned'; settlement: Settlement }
  | { type: 'threw'; error: unknown }
  | { type: 'interrupted' };

/** What becomes of the row. */
export type Settlement = { act: 'remove' } | Release;

/** The job waits again, for any worker. */
export interface Release {
  act: 'release';
  /** Undefined: as the row has it. */
  dueAtMs: number | undefined;
  /** Whether it moves with the merchant's clock; undefined: as the row has it. */
  followsClock: boolean | undefined;
  /**
   * Whether a newer revision (the job was enqueued again during the run) makes it due at once instead of at `dueAtMs`.
   */
  revisionFirst: boolean;
  attempts: number;
  lastError: string | null;
}

/** For a job that is done but was enqueued again during the run: it runs once more at once. */
export const RUN_AGAIN: Release = {
  act: 'release',
  dueAtMs: undefined,
  followsClock: undefined,
  revisionFirst: true,
  attempts: 0,
  lastError: null,
};

/**
 * Milliseconds to wait after the nth failure in a row: 1 s doubling to 5 min, of which a random half is taken off so
 * that jobs that failed together do not come back together.
 *
 * @param failures 1 or more.
 * @param jitter from 0 (shortest) to 1 (longest).
 */
export function backOffMs(failures: number, jitter: number): number {
  const longestMs = Math.min(BACK_OFF_FIRST_MS * 2 ** (failures - 1), BACK_OFF_MAX_MS);
  return Math.round(longestMs * (0.5 + jitter / 2));
}

/** Owners of leases without a presence lock: their workers are dead. */
export function deadOwners(
  leaseOwners: readonly number[],
  present: readonly number[],
  own: number,
): number[] {
  const alive = new Set([...present, own]);
  return leaseOwners.filter((owner) => !alive.has(owner));
}

/** Decides what becomes of the row of a job whose run has ended. */
export function settle(
  job: Pick<ClaimedJob, 'attempts' | 'lastError'>,
  ending: Ending,
  now: { nowMs: number; jitter: number },
): Settlement {
  switch (ending.type) {
    case 'returned':
      return ending.settlement;
    case 'interrupted':
      return giveBack(job);
    case 'threw': {
      const attempts = job.attempts + 1;
      const dueAtMs = now.nowMs + backOffMs(attempts, now.jitter);
      const lastError = describeError(ending.error);
      // A newer revision does not shorten it: a handler that enqueues its own job and then fails would spin.
      return { ...RUN_AGAIN, dueAtMs, revisionFirst: false, attempts, lastError };
    }
  }
}

/** Releases the job with its due time and without counting an attempt. */
export function giveBack(job: Pick<ClaimedJob, 'attempts' | 'lastError'>): Release {
  return { ...RUN_AGAIN, attempts: job.attempts, lastError: job.lastError };
}

/** Turns a handler's outcome into a settlement. @throws TypeError for a time that no row can hold. */
export function settleOutcome(outcome: JobOutcome): Settlement {
  if (outcome === 'done') return { act: 'remove' };
  const dueAtMs = Math.ceil(outcome.againAtMs);
  if (!Number.isSafeInteger(dueAtMs)) throw new TypeError(`againAtMs is not a time: ${outcome.againAtMs}`);
  return { ...RUN_AGAIN, dueAtMs, followsClock: outcome.followsClock };
}

/** A throw of a run that was aborted or overtaken counts as an interruption, not as a failure. */
export function endingOf(error: unknown, aborted: boolean): Ending {
  return aborted || error instanceof LeaseLost ? { type: 'interrupted' } : { type: 'threw', error };
}

/** Class and message in at most 500 characters that a PostgreSQL text can hold. */
export function describeError(error: unknown): string {
  const text = error instanceof Error ? `${error.constructor.name}: ${error.message}` : inspect(error);
  return text.replaceAll('\0', '').slice(0, LAST_ERROR_LENGTH_MAX).toWellFormed();
}

/**
 * Milliseconds until the next poll: at least 20 times the duration of the last one, so that polling takes 1/20 of the
 * time, but at most 5 s, as on a loaded machine most of a poll is waiting.
 */
export function nextPollMs(pollEveryMs: number, lastPollTookMs: number): number {
  return Math.max(pollEveryMs, Math.min(lastPollTookMs * 20, POLL_APART_MAX_MS));
}

/** Milliseconds to wait before the nth try to reach a database that is away: 0.2 s doubling to 5 s. */
export function reconnectMs(failures: number): number {
  return Math.min(200 * 2 ** (failures - 1), 5_000);
}
