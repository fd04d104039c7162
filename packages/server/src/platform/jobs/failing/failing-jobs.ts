import { sql } from 'kysely';
import type { Db } from '../../db/db.ts';
import { transact } from '../../db/transact.ts';
import { notifyWorkers } from '../worker-notifier.ts';

/** A job whose last run threw. It is tried again by itself, less and less often. */
export interface FailingJob {
  merchantId: string;
  jobId: string;
  kind: string;
  /** Runs that threw, in a row. */
  attempts: number;
  lastError: string;
  /** When it runs again, real Unix milliseconds. */
  dueAtMs: number;
}

/** Where a page of failing jobs goes on: behind this job, as the page before had it. */
export type FailingCursor = Pick<FailingJob, 'attempts' | 'jobId'>;

/**
 * Jobs whose last run threw, those first that have failed most often. One that fails again between two pages moves to the front,
 * where the next reading of the list has it.
 */
export async function listFailing(
  db: Db,
  { limit, after }: { limit: number; after?: FailingCursor | undefined },
): Promise<FailingJob[]> {
  const columns = sql`select merchant_id, job_id, kind, attempts, last_error, due_at_ms from job`;
  const order = sql`order by attempts desc, job_id limit ${limit}`;
  // Two ranges of the index, as its order is mixed: a condition over both would read all jobs that failed as often.
  const page =
    after === undefined
      ? sql`${columns} where attempts > 0 ${order}`
      : sql`(${columns} where attempts > 0 and attempts = ${after.attempts} and job_id > ${after.jobId} ${order})
            union all (${columns} where attempts > 0 and attempts < ${after.attempts} ${order})
            ${order}`;
  const { rows } = await sql<{
    merchant_id: string;
    job_id: string;
    kind: string;
    attempts: number;
    last_error: string | null;
    due_at_ms: bigint;
  }>`${page}`.execute(db);
  return rows.map((row) => ({
    merchantId: row.merchant_id,
    jobId: row.job_id,
    kind: row.kind,
    attempts: row.attempts,
    lastError: row.last_error ?? '',
    dueAtMs: Number(row.due_at_ms),
  }));
}

/**
 * Makes a failing job due now; while it runs it runs once more, as after every change that concerns it.
 *
 * @returns whether it still fails: one that has succeeded is left alone
 */
export async function runFailingNow(
  db: Db,
  { merchantId, jobId }: Pick<FailingJob, 'merchantId' | 'jobId'>,
  nowMs: number,
): Promise<boolean> {
  return await transact(db, async (tx) => {
    const { numAffectedRows } = await sql`
      update job set due_at_ms = least(due_at_ms, ${nowMs}::bigint), revision = revision + 1
      where merchant_id = ${merchantId} and job_id = ${jobId} and attempts > 0`.execute(tx);
    if (numAffectedRows === 0n) return false;
    notifyWorkers(tx, [{ merchantId, kind: undefined, dueAtMs: 0 }]);
    return true;
  });
}
