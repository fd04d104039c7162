import { randomBytes } from 'node:crypto';
import type { Tx } from '../db/db.ts';
import type { Logger } from '../observability/log.ts';

declare module '../db/db.ts' {
  interface Tables {
    job: {
      merchant_id: string;
      job_id: string;
      kind: string;
      unique_key: string;
      due_at_ms: bigint | number;
      follows_clock: boolean;
      payload: Record<string, unknown>;
      trace: string | null;
      attempts: number;
      last_error: string | null;
      lease_until_ms: bigint | number | null;
      lease_owner: number | null;
      fence: bigint;
      revision: number;
    };
  }
}

/** A job as its handler sees it. */
export interface Job {
  /** The nil merchant for jobs of the installation itself. */
  merchantId: string;
  jobId: string;
  kind: string;
  /** What `enqueue` was given; the handler checks it, as an older release may have written it. */
  payload: Record<string, unknown>;
  /** Runs since the last success that failed or whose worker died. */
  attempts: number;
  /** Real time in Unix milliseconds. */
  dueAtMs: number;
  /** The trace that enqueued it last, as a W3C `traceparent`; null without one. */
  trace: string | null;
}

/**
 * `done` removes the job; `againAtMs` (real Unix milliseconds) plans its next run and counts as a success. `followsClock`:
 * whether that time moves with the merchant's clock from now on; left out, it stays as it was.
 */
export type JobOutcome = 'done' | { againAtMs: number; followsClock?: boolean };

/** A handler's hold on the job it runs. */
export interface JobRun {
  /**
   * One transaction of the job's work, run only while this worker still has the job.
   *
   * @throws LeaseLost when another worker has taken the job over: nothing was changed.
   * @throws CommitUnknown see `transact`.
   */
  step<T>(change: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * The last step: the job's outcome (`done` unless `outcome` says otherwise) is written in the same transaction.
   * What the handler returns afterwards is ignored.
   *
   * @throws LeaseLost, CommitUnknown as `step`.
   */
  finish<T>(change: (tx: Tx) => Promise<T>, outcome?: (result: T) => JobOutcome): Promise<T>;
  /**
   * Calls `listener` when the job is enqueued again while it runs. A handler that then reads its work anew has seen that
   * revision, which does not make the job run once more. Before a handler decides that nothing is left, it passes
   * `undefined` in the same turn of the loop: later revisions make the job run again.
   */
  onNews(listener: (() => void) | undefined): void;
  /** Aborted when the worker stops or may have lost the job: begin nothing new outside the database. */
  signal: AbortSignal;
}

/** Runs one job. A throw is recorded and the job tried again later, without a limit. */
export type JobHandler = (job: Job, run: JobRun) => Promise<JobOutcome>;

/** The job belongs to another worker now: whatever this one would write must not be written. */
export class LeaseLost extends Error {
  constructor(job: Pick<Job, 'kind' | 'jobId'>) {
    super(`job ${job.jobId} (${job.kind}) has been taken over by another worker`);
  }
}

/**
 * The token of one claim, which each write under it must match. It is random, not counted, so that a claim that a crash
 * of the database undid does not share its token with the next one.
 */
export function newFence(): bigint {
  return randomBytes(8).readBigUInt64BE() >> 1n;
}

/** A hold on one row: the token that each write must match, and the revision that its holder has seen. */
export interface Lease {
  jobId: string;
  fence: bigint;
  revision: number;
}

/** A job together with the hold that its claimer has on it. */
export interface ClaimedJob extends Job, Lease {
  lastError: string | null;
}

export type JobLog = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
