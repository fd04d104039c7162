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
  /** The payload given to `enqueue`. The handler checks it, because an older release may have written it. */
  payload: Record<string, unknown>;
  /** Failed runs since the last success, including runs whose worker died. */
  attempts: number;
  /** Real time in Unix milliseconds. */
  dueAtMs: number;
  /** W3C `traceparent` of the last enqueue; null without one. */
  trace: string | null;
}

/**
 * `done` removes the job; `againAtMs` (real Unix milliseconds) plans its next run and counts as a success.
 * `followsClock`: whether that time moves with the merchant's clock from now on; if it is left out, that does not
 * change.
 */
export type JobOutcome = 'done' | { againAtMs: number; followsClock?: boolean };

/** A handler's hold on the job it runs. */
export interface JobRun {
  /**
   * Runs one transaction of the job's work, only while this worker still has the job.
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
   * Calls `listener` when the job is enqueued again while it runs. The handler must then read its work again; this
   * revision does not start another run. Before a handler decides that nothing is left, it passes `undefined` in the
   * same turn of the event loop: later revisions make the job run again.
   */
  onRevision(listener: (() => void) | undefined): void;
  /** Aborted when the worker stops or may have lost the job: begin nothing new outside the database. */
  signal: AbortSignal;
}

/** Runs one job. If it throws, the error is recorded and the job is tried again later, without a limit. */
export type JobHandler = (job: Job, run: JobRun) => Promise<JobOutcome>;

/** Another worker has the job now, so this one must not write anything for it. */
export class LeaseLost extends Error {
  constructor(job: Pick<Job, 'kind' | 'jobId'>) {
    super(`job ${job.jobId} (${job.kind}) has been taken over by another worker`);
  }
}

/**
 * The fencing token of one claim; each write under the claim must match it. It is random and not a counter: if a crash
 * of the database undoes a claim, the next claim gets another token.
 */
export function newFence(): bigint {
  return randomBytes(8).readBigUInt64BE() >> 1n;
}

/** A claim on one row: the fencing token that each write must match, and the last revision that its holder has read. */
export interface Lease {
  jobId: string;
  fence: bigint;
  revision: number;
}

/** A job with its claim. */
export interface ClaimedJob extends Job, Lease {
  lastError: string | null;
}

export type JobLog = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
