import { sql } from 'kysely';
import type { Db, Tx } from '../db/db.ts';
import { notifyWorkers } from './worker-notifier.ts';

/**
 * When the next job that follows the merchant's clock is due (real Unix milliseconds); undefined: there is none. Jobs of
 * the kinds in `except` do not count.
 */
export async function nextClockJobMs(
  db: Db,
  merchantId: string,
  except: readonly string[],
): Promise<number | undefined> {
  const { rows } = await sql<{ due_at_ms: bigint | null }>`
    select min(due_at_ms) as due_at_ms from job
    where merchant_id = ${merchantId} and follows_clock and kind <> all(${except}::text[])`.execute(db);
  const due = rows[0]?.due_at_ms ?? null;
  return due === null ? undefined : Number(due);
}

/** Whether a job of the merchant is due or running now; jobs of the kinds in `except` do not count. */
export async function hasDueJobs(
  db: Db,
  merchantId: string,
  { nowMs, except }: { nowMs: number; except: readonly string[] },
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from job
    where merchant_id = ${merchantId} and due_at_ms <= ${nowMs} and kind <> all(${except}::text[])
    limit 1`.execute(db);
  return rows.length > 0;
}

/**
 * Makes jobs of these kinds that follow the merchant's clock and are due by `untilMs` (real Unix milliseconds) due now.
 *
 * @returns whether there are any
 */
export async function hastenClockJobs(
  tx: Tx,
  merchantId: string,
  { kinds, untilMs, nowMs }: { kinds: readonly string[]; untilMs: number; nowMs: number },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update job set due_at_ms = least(due_at_ms, ${nowMs}::bigint), revision = revision + 1
    where merchant_id = ${merchantId} and follows_clock and kind = any(${kinds}::text[])
      and due_at_ms <= ${untilMs}`.execute(tx);
  if (numAffectedRows === 0n) return false;
  notifyWorkers(tx, [{ merchantId, kind: undefined, dueAtMs: 0 }]);
  return true;
}

/**
 * Moves the due times of jobs that follow the merchant's clock by as much as the clock, and notifies the workers. Jobs of
 * the kinds in `retryKinds` that wait in real time become due now, as their reason to wait may be over at the new time. The
 * new revision keeps a job that is running from writing the due time that it computed before.
 */
export async function advanceClockJobs(
  tx: Tx,
  merchantId: string,
  { ms, nowMs, retryKinds }: { ms: number; nowMs: number; retryKinds: readonly string[] },
): Promise<void> {
  await sql`
    update job set
      due_at_ms = case when follows_clock then due_at_ms - ${ms}::bigint else least(due_at_ms, ${nowMs}::bigint) end,
      revision = revision + 1
    where merchant_id = ${merchantId} and (follows_clock or kind = any(${retryKinds}::text[]))`.execute(tx);
  notifyWorkers(tx, [{ merchantId, kind: undefined, dueAtMs: 0 }]);
}
