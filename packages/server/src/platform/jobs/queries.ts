import { type RawBuilder, sql } from 'kysely';
import type { Db, Tx } from '../db/db.ts';
import { listed } from '../db/statements/rows.ts';
import { prepared } from '../db/statements/statement.ts';
import type { Release } from './decisions.ts';
import { RUN_AGAIN } from './decisions.ts';
import type { ClaimedJob, Lease } from './job.ts';

/** Merchants that one poll returns at most. */
export const DUE_MERCHANTS_MAX = 1_000;

/** Which jobs a worker may claim: due ones of these kinds that are free or leased by a dead owner. */
export interface Claimable {
  nowMs: number;
  kinds: readonly string[];
  deadOwners: readonly number[];
}

const isFree = ({ nowMs, deadOwners }: Claimable) => sql<boolean>`
  (lease_until_ms is null or lease_until_ms < ${nowMs} or lease_owner = any(${deadOwners}::integer[]))`;

/** A merchant, and when the first of its jobs is due (real Unix milliseconds). */
export interface DueMerchant {
  merchantId: string;
  dueAtMs: number;
}

/**
 * Step one of a claim, without a lock: merchants with work that is due by `untilMs`, longest waiting first.
 */
export async function listDueMerchants(
  db: Db,
  claimable: Claimable,
  untilMs: number,
): Promise<DueMerchant[]> {
  const { rows } = await sql<{ merchant_id: string; first_ms: bigint }>`
    select merchant_id, min(due_at_ms) as first_ms from job
    where due_at_ms <= ${untilMs} and kind = any(${claimable.kinds}::text[]) and ${isFree(claimable)}
    group by merchant_id
    order by min(due_at_ms)
    limit ${DUE_MERCHANTS_MAX}`.execute(db);
  return rows.map((row) => ({ merchantId: row.merchant_id, dueAtMs: Number(row.first_ms) }));
}

/** Who claims a batch, of what size and until when. */
export interface Claimer extends Claimable {
  owner: number;
  fence: bigint;
  leaseUntilMs: number;
  limit: number;
  /** Kinds that are claimed after all others. */
  lowPriorityKinds: readonly string[];
}

interface ClaimedRow {
  job_id: string;
  kind: string;
  payload: Record<string, unknown>;
  attempts: number;
  last_error: string | null;
  due_at_ms: bigint;
  trace: string | null;
  revision: number;
}

/** Free jobs of these kinds in due order, which is the index's order: the scan ends with the last one claimed. */
const firstDue = (merchantId: string, claimer: Claimer, kinds: readonly string[]) => sql`
  select job_id from job
  where merchant_id = ${merchantId}::uuid and due_at_ms <= ${claimer.nowMs}
    and kind = any(${kinds}::text[]) and ${isFree(claimer)}
  order by due_at_ms`;

/** Ids of the jobs that a claim takes, locked. */
function takenBy(merchantId: string, claimer: Claimer): RawBuilder<unknown> {
  const { kinds, lowPriorityKinds, limit } = claimer;
  const first = firstDue(merchantId, claimer, kinds);
  if (lowPriorityKinds.length === 0) return sql`${first} limit ${limit} for update skip locked`;
  const others = kinds.filter((kind) => !lowPriorityKinds.includes(kind));
  return sql`
    with others as (
      ${firstDue(merchantId, claimer, others)} limit ${limit} for update skip locked
    ), low_priority as (
      ${firstDue(merchantId, claimer, lowPriorityKinds)}
      limit ${limit} - (select count(*) from others) for update skip locked
    )
    select job_id from others union all select job_id from low_priority`;
}

/**
 * Step two: claims a batch of one merchant's due jobs in due order, low-priority kinds last. A job whose last holder
 * did not give it back counts an attempt, so that a job that kills its workers is seen. `for update` also waits for no
 * step in flight: it skips the job.
 */
export async function claimJobs(db: Db, merchantId: string, claimer: Claimer): Promise<ClaimedJob[]> {
  const { rows } = await prepared<ClaimedRow>`
    update job set
      lease_until_ms = ${claimer.leaseUntilMs},
      lease_owner = ${claimer.owner},
      fence = ${claimer.fence},
      attempts = attempts + case when lease_owner is null then 0 else 1 end
    where merchant_id = ${merchantId}::uuid and job_id = any(array(${takenBy(merchantId, claimer)}))
    returning job_id, kind, payload, attempts, last_error, due_at_ms, trace, revision`.execute(db);
  const jobs = rows.map((row) => toClaimedJob(row, merchantId, claimer.fence));
  const isLowPriority = ({ kind }: ClaimedJob) => Number(claimer.lowPriorityKinds.includes(kind));
  return jobs.sort(
    (a, b) => isLowPriority(a) - isLowPriority(b) || a.dueAtMs - b.dueAtMs || (a.jobId < b.jobId ? -1 : 1),
  );
}

function toClaimedJob(row: ClaimedRow, merchantId: string, fence: bigint): ClaimedJob {
  return {
    merchantId,
    jobId: row.job_id,
    kind: row.kind,
    payload: row.payload,
    attempts: row.attempts,
    lastError: row.last_error,
    dueAtMs: Number(row.due_at_ms),
    trace: row.trace,
    fence,
    revision: row.revision,
  };
}

/**
 * Checks that the lease still holds and keeps it until the transaction ends. The key-share lock blocks claimers but not
 * enqueuers, which therefore never wait for a running step or deadlock with it.
 */
export async function lockLease(tx: Tx, merchantId: string, lease: Lease): Promise<boolean> {
  const { rows } = await prepared`
    select from job
    where merchant_id = ${merchantId}::uuid and job_id = ${lease.jobId}::uuid and fence = ${lease.fence}
      and lease_owner is not null
    for key share`.execute(tx);
  return rows.length === 1;
}

/** As `lockLease`, for many leases of one merchant. @returns ids of the jobs that are still their holder's */
export async function lockLeases(tx: Tx, merchantId: string, leases: readonly Lease[]): Promise<Set<string>> {
  const { rows } = await prepared<{ job_id: string }>`
    select job.job_id from job, ${leasesOf(leases)} where ${isHeld(merchantId)} for key share of job`.execute(
    tx,
  );
  return new Set(rows.map((row) => row.job_id));
}

/** Revisions of jobs that were enqueued again since their holders last read them, by id. */
export async function listNewRevisions(
  db: Db,
  merchantId: string,
  leases: readonly Lease[],
): Promise<Map<string, number>> {
  const { rows } = await sql<{ job_id: string; revision: number }>`
    select job.job_id, job.revision from job, ${leasesOf(leases)}
    where ${isHeld(merchantId)} and job.revision > held.revision`.execute(db);
  return new Map(rows.map((row) => [row.job_id, row.revision]));
}

const leasesOf = (leases: readonly Lease[]) =>
  listed('held', leases, {
    job_id: ['uuid', ({ jobId }) => jobId],
    fence: ['bigint', ({ fence }) => fence],
    revision: ['integer', ({ revision }) => revision],
  });

/**
 * Both odd conditions steer the planner. With a plain `is not null` it expects next to no leased jobs, as statistics
 * are mostly gathered while nothing is leased, and would compare each job of the merchant with each held one. The range
 * is true for every id: PostgreSQL estimates 1/200 of the rows for a range it knows nothing about, and therefore finds
 * each held job by its key instead of reading all jobs of a merchant that has more than others.
 */
const isHeld = (merchantId: string) => sql<boolean>`
  job.merchant_id = ${merchantId}::uuid and job.job_id = held.job_id and job.fence = held.fence
  and coalesce(job.lease_owner, 0) <> 0
  and held.job_id between '00000000-0000-0000-0000-000000000000'::uuid and 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid`;

/** Extends leases under the worker's present number. @returns ids of the jobs that are still its own. */
export async function renewLeases(
  db: Db,
  merchantId: string,
  leases: readonly Lease[],
  renewal: { owner: number; leaseUntilMs: number },
): Promise<Set<string>> {
  const { rows } = await prepared<{ job_id: string }>`
    update job set lease_until_ms = ${renewal.leaseUntilMs}, lease_owner = ${renewal.owner}
    from ${leasesOf(leases)}
    where ${isHeld(merchantId)}
    returning job.job_id`.execute(db);
  return new Set(rows.map((row) => row.job_id));
}

/** Result of giving leases up: jobs that the caller no longer held, and jobs that wait again. */
export interface Settled {
  lost: Set<string>;
  /** By the job's id, when it is due (real Unix milliseconds). */
  waiting: Map<string, number>;
}

/** Removes jobs that are done. Jobs that were enqueued again while they ran are released instead, due at once. */
export async function removeJobs(db: Db, merchantId: string, leases: readonly Lease[]): Promise<Settled> {
  const { rows } = await prepared<{ job_id: string }>`
    with removed as (
      delete from job using ${leasesOf(leases)}
      where ${isHeld(merchantId)} and job.revision = held.revision
      returning job.job_id
    )
    select held.job_id from unnest(${leases.map((lease) => lease.jobId)}::uuid[]) as held (job_id)
    where not exists (select from removed where removed.job_id = held.job_id)`.execute(db);
  if (rows.length === 0) return { lost: new Set(), waiting: new Map() };
  const remaining = new Set(rows.map((row) => row.job_id));
  const changes = leases
    .filter((lease) => remaining.has(lease.jobId))
    .map((lease) => ({ lease, release: RUN_AGAIN }));
  // A second statement, as it must see revisions that were committed while the first one waited for the row.
  return await releaseJobs(db, merchantId, changes);
}

/** Gives jobs back. */
export async function releaseJobs(
  db: Db,
  merchantId: string,
  changes: readonly { lease: Lease; release: Release }[],
): Promise<Settled> {
  const held = listed('held', changes, {
    job_id: ['uuid', ({ lease }) => lease.jobId],
    fence: ['bigint', ({ lease }) => lease.fence],
    revision: ['integer', ({ lease }) => lease.revision],
    due_at_ms: ['bigint', ({ release }) => release.dueAtMs ?? null],
    follows_clock: ['boolean', ({ release }) => release.followsClock ?? null],
    news_first: ['boolean', ({ release }) => release.revisionFirst],
    attempts: ['integer', ({ release }) => release.attempts],
    last_error: ['text', ({ release }) => release.lastError],
  });
  const { rows } = await prepared<{ job_id: string; due_at_ms: bigint }>`
    update job set
      lease_until_ms = null,
      lease_owner = null,
      due_at_ms = case
        when held.due_at_ms is null or (held.news_first and job.revision <> held.revision) then job.due_at_ms
        else held.due_at_ms
      end,
      follows_clock = coalesce(held.follows_clock, job.follows_clock),
      attempts = held.attempts,
      last_error = held.last_error
    from ${held}
    where ${isHeld(merchantId)}
    returning job.job_id, job.due_at_ms`.execute(db);
  const waiting = new Map(rows.map((row) => [row.job_id, Number(row.due_at_ms)]));
  const lost = changes.map(({ lease }) => lease.jobId).filter((jobId) => !waiting.has(jobId));
  return { lost: new Set(lost), waiting };
}

/** Numbers of the workers that hold leases, dead or alive. Reads due jobs only, as every leased job is due. */
export async function listLeaseOwners(db: Db, nowMs: number): Promise<number[]> {
  const { rows } = await sql<{ lease_owner: number }>`
    select distinct lease_owner from job
    where due_at_ms <= ${nowMs} and lease_owner is not null`.execute(db);
  return rows.map((row) => row.lease_owner);
}

/** Numbers of the workers whose session is up, each of which holds an advisory lock of this class. */
export async function listPresentOwners(db: Db, lockClass: number): Promise<number[]> {
  const { rows } = await sql<{ owner: number }>`
    select objid::bigint::integer as owner from pg_locks
    where locktype = 'advisory' and classid = ${lockClass}::oid and objsubid = 2 and granted
      and database = (select oid from pg_database where datname = current_database())`.execute(db);
  return rows.map((row) => row.owner);
}
