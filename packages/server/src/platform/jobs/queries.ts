import { type RawBuilder, sql } from 'kysely';
import type { Db, Tx } from '../db/db.ts';
import { kept } from '../db/kept-plans.ts';
import type { Release } from './decisions.ts';
import { RUN_AGAIN } from './decisions.ts';
import type { ClaimedJob, Lease } from './job.ts';

/** Merchants found by one look. */
export const DUE_MERCHANTS_MAX = 1_000;

/** What a worker can run, and whose leases no longer count. */
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
 * Step one of a claim, over all merchants and without a lock: who has work that is due by `untilMs`, longest waiting
 * first.
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

/** Who takes a batch, how much of it, and until when. */
export interface Claimer extends Claimable {
  owner: number;
  fence: bigint;
  leaseUntilMs: number;
  limit: number;
  /** Kinds that come after all others. */
  patientKinds: readonly string[];
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

/** Free jobs of these kinds in due order, which is the index's: reading ends with the last one that is taken. */
const firstDue = (merchantId: string, claimer: Claimer, kinds: readonly string[]) => sql`
  select job_id from job
  where merchant_id = ${merchantId}::uuid and due_at_ms <= ${claimer.nowMs}
    and kind = any(${kinds}::text[]) and ${isFree(claimer)}
  order by due_at_ms`;

/** Ids of the jobs that a claim takes, locked. */
function takenBy(merchantId: string, claimer: Claimer): RawBuilder<unknown> {
  const { kinds, patientKinds, limit } = claimer;
  const first = firstDue(merchantId, claimer, kinds);
  if (patientKinds.length === 0) return sql`${first} limit ${limit} for update skip locked`;
  const others = kinds.filter((kind) => !patientKinds.includes(kind));
  return sql`
    with others as (
      ${firstDue(merchantId, claimer, others)} limit ${limit} for update skip locked
    ), patient as (
      ${firstDue(merchantId, claimer, patientKinds)}
      limit ${limit} - (select count(*) from others) for update skip locked
    )
    select job_id from others union all select job_id from patient`;
}

/**
 * Step two: takes a batch of one merchant's due jobs, in due order but for the patient ones. A job whose last holder did
 * not give it back counts an attempt, so that one which kills its workers shows. `for update` also keeps out of a step in
 * flight.
 */
export async function claimJobs(db: Db, merchantId: string, claimer: Claimer): Promise<ClaimedJob[]> {
  const { rows } = await sql<ClaimedRow>`${kept}
    update job set
      lease_until_ms = ${claimer.leaseUntilMs},
      lease_owner = ${claimer.owner},
      fence = ${claimer.fence},
      attempts = attempts + case when lease_owner is null then 0 else 1 end
    where merchant_id = ${merchantId}::uuid and job_id = any(array(${takenBy(merchantId, claimer)}))
    returning job_id, kind, payload, attempts, last_error, due_at_ms, trace, revision`.execute(db);
  const jobs = rows.map((row) => toClaimedJob(row, merchantId, claimer.fence));
  const isPatient = ({ kind }: ClaimedJob) => Number(claimer.patientKinds.includes(kind));
  return jobs.sort(
    (a, b) => isPatient(a) - isPatient(b) || a.dueAtMs - b.dueAtMs || (a.jobId < b.jobId ? -1 : 1),
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
 * Whether the lease still stands, and keeps it so until the transaction ends. The key-share lock shuts claimers out
 * but not enqueuers: news never wait for a running step, nor can they deadlock with it.
 */
export async function lockLease(tx: Tx, merchantId: string, lease: Lease): Promise<boolean> {
  const { rows } = await sql`${kept}
    select from job
    where merchant_id = ${merchantId}::uuid and job_id = ${lease.jobId}::uuid and fence = ${lease.fence}
      and lease_owner is not null
    for key share`.execute(tx);
  return rows.length === 1;
}

/** As `lockLease`, for many leases of one merchant. @returns ids of the jobs that are still their holder's */
export async function lockLeases(tx: Tx, merchantId: string, leases: readonly Lease[]): Promise<Set<string>> {
  const { rows } = await sql<{ job_id: string }>`${kept}
    select job.job_id from job, ${leasesOf(leases)} where ${isHeld(merchantId)} for key share of job`.execute(
    tx,
  );
  return new Set(rows.map((row) => row.job_id));
}

/** Revisions of jobs that were asked for again since their holders last looked, by id. */
export async function listNews(
  db: Db,
  merchantId: string,
  leases: readonly Lease[],
): Promise<Map<string, number>> {
  const { rows } = await sql<{ job_id: string; revision: number }>`
    select job.job_id, job.revision from job, ${leasesOf(leases)}
    where ${isHeld(merchantId)} and job.revision > held.revision`.execute(db);
  return new Map(rows.map((row) => [row.job_id, row.revision]));
}

const leasesOf = (leases: readonly Lease[]) => sql`
  unnest(
    ${leases.map((lease) => lease.jobId)}::uuid[],
    ${leases.map((lease) => lease.fence)}::bigint[],
    ${leases.map((lease) => lease.revision)}::integer[]
  ) as held (job_id, fence, revision)`;

/**
 * Plain `is not null` would tell the planner that there are next to none of them, as statistics are mostly made while
 * nothing is leased: it would then compare each of a merchant's jobs with each held one. The range holds for every id:
 * PostgreSQL counts on a two-hundredth of what lies in one that it knows nothing of, and so looks each held job up by its
 * key, where it would read all jobs of a merchant that has more than others.
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
  const { rows } = await sql<{ job_id: string }>`${kept}
    update job set lease_until_ms = ${renewal.leaseUntilMs}, lease_owner = ${renewal.owner}
    from ${leasesOf(leases)}
    where ${isHeld(merchantId)}
    returning job.job_id`.execute(db);
  return new Set(rows.map((row) => row.job_id));
}

/** What came of leases that were given up: jobs that were the caller's no more, and those that wait again. */
export interface Settled {
  lost: Set<string>;
  /** By the job's id, when it is due (real Unix milliseconds). */
  waiting: Map<string, number>;
}

/** Removes jobs that are done; those of which news came while they ran are released instead, due at once. */
export async function removeJobs(db: Db, merchantId: string, leases: readonly Lease[]): Promise<Settled> {
  const { rows } = await sql<{ job_id: string }>`${kept}
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
  // A second statement, as it must see news that were committed while the first one waited for their row.
  return await releaseJobs(db, merchantId, changes);
}

/** Gives jobs back. */
export async function releaseJobs(
  db: Db,
  merchantId: string,
  changes: readonly { lease: Lease; release: Release }[],
): Promise<Settled> {
  const { rows } = await sql<{ job_id: string; due_at_ms: bigint }>`${kept}
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
    from unnest(
      ${changes.map(({ lease }) => lease.jobId)}::uuid[],
      ${changes.map(({ lease }) => lease.fence)}::bigint[],
      ${changes.map(({ lease }) => lease.revision)}::integer[],
      ${changes.map(({ release }) => release.dueAtMs ?? null)}::bigint[],
      ${changes.map(({ release }) => release.followsClock ?? null)}::boolean[],
      ${changes.map(({ release }) => release.newsFirst)}::boolean[],
      ${changes.map(({ release }) => release.attempts)}::integer[],
      ${changes.map(({ release }) => release.lastError)}::text[]
    ) as held (job_id, fence, revision, due_at_ms, follows_clock, news_first, attempts, last_error)
    where ${isHeld(merchantId)}
    returning job.job_id, job.due_at_ms`.execute(db);
  const waiting = new Map(rows.map((row) => [row.job_id, Number(row.due_at_ms)]));
  const lost = changes.map(({ lease }) => lease.jobId).filter((jobId) => !waiting.has(jobId));
  return { lost: new Set(lost), waiting };
}

/** Numbers of the workers that hold leases, dead or alive. What is leased is due, and only that is read. */
export async function listLeaseOwners(db: Db, nowMs: number): Promise<number[]> {
  const { rows } = await sql<{ lease_owner: number }>`
    select distinct lease_owner from job
    where due_at_ms <= ${nowMs} and lease_owner is not null`.execute(db);
  return rows.map((row) => row.lease_owner);
}

/** Numbers of the workers whose session is up: each holds an advisory lock of this class. */
export async function listPresentOwners(db: Db, lockClass: number): Promise<number[]> {
  const { rows } = await sql<{ owner: number }>`
    select objid::bigint::integer as owner from pg_locks
    where locktype = 'advisory' and classid = ${lockClass}::oid and objsubid = 2 and granted
      and database = (select oid from pg_database where datname = current_database())`.execute(db);
  return rows.map((row) => row.owner);
}
