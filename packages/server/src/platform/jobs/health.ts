import { sql } from 'kysely';
import type { Db } from '../db/db.ts';
import { LOCK_CLASS } from './presence.ts';
import { listPresentOwners } from './queries.ts';

const LATE_AFTER_MS = 5_000;
const FAILING_ATTEMPTS_MIN = 3;

/** The state of one kind of job. */
export interface JobKindHealth {
  kind: string;
  /** All jobs: due or not, running or not. */
  waiting: number;
  /** Due for more than 5 s and not running. */
  late: number;
  /** The earliest due time of a job that is not running; undefined where all are. */
  oldestDueMs: number | undefined;
  /** Failed three times or more in a row; `last_error` of the row says why. */
  failing: number;
}

/** Counts jobs by kind, over all merchants. Reads the whole table: for metrics, not for requests. */
export async function jobHealth(db: Db, nowMs: number): Promise<JobKindHealth[]> {
  const { rows } = await sql<
    Record<'waiting' | 'late' | 'failing', bigint> & { kind: string; oldest: bigint | null }
  >`
    select kind,
      count(*) as waiting,
      count(*) filter (where due_at_ms < ${nowMs - LATE_AFTER_MS}
        and (lease_until_ms is null or lease_until_ms < ${nowMs})) as late,
      min(due_at_ms) filter (where lease_until_ms is null or lease_until_ms < ${nowMs}) as oldest,
      count(*) filter (where attempts >= ${FAILING_ATTEMPTS_MIN}) as failing
    from job group by kind order by kind`.execute(db);
  return rows.map((row) => ({
    kind: row.kind,
    waiting: Number(row.waiting),
    late: Number(row.late),
    oldestDueMs: row.oldest === null ? undefined : Number(row.oldest),
    failing: Number(row.failing),
  }));
}

/** Workers of all processes whose session is up. */
export async function countWorkers(db: Db): Promise<number> {
  return (await listPresentOwners(db, LOCK_CLASS)).length;
}
