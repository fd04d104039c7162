import { randomInt } from 'node:crypto';
import type { Clock } from '../db/clock.ts';
import type { Db } from '../db/db.ts';
import { type ClaimGrant, ClaimScheduler } from './claim-scheduler.ts';
import { DeadOwners } from './dead-owners.ts';
import { describeError, giveBack, nextPollMs, reconnectMs, settle } from './decisions.ts';
import { DueTimer } from './due-timer.ts';
import { handle } from './handle.ts';
import { type JobHandler, type JobLog, newFence } from './job.ts';
import { Outage } from './outage.ts';
import { poll } from './poll.ts';
import { Presence } from './presence.ts';
import { claimJobs, releaseJobs } from './queries.ts';
import { renewRuns } from './renewal.ts';
import { type Fate, Results } from './results.ts';
import { RevisionWatcher } from './revision-watcher.ts';
import { ActiveRun } from './run.ts';
import { pause, WakeSignal } from './waiting.ts';
import { type JobNotice, WorkerNotifier } from './worker-notifier.ts';

const NO_KINDS: readonly string[] = [];
const DEFAULTS = {
  merchantsAtOnce: 8,
  batchSize: 200,
  sharedPart: 0.5,
  runningMax: 2_000,
  roomMin: 1,
  pollEveryMs: 500,
  leaseMs: 30_000,
  renewEveryMs: 5_000,
  lowPriorityKinds: NO_KINDS,
};
/** Longer than polls are apart on a loaded machine, so that a job whose due time is known waits for no poll. */
const REMEMBERED_MS = 10_000;
const GIVE_BACK_TIMEOUT_MS = 2_000;
const IDLE_CHECK_EVERY_MS = 20;
const JITTER_STEPS = 1_000;

export interface WorkerOptions {
  /** For steps and outcomes; commits synchronously. */
  db: Db;
  /**
   * For claims and renewals. It may commit asynchronously, so that a job begins without waiting for the disk: where a
   * crash of the database loses a claim, no step under it is durable either. Default `db`.
   */
  fastDb?: Db;
  /** For the worker's own session; must not pass a pooler that shares sessions. */
  url: string;
  clock: Pick<Clock, 'nowMs'>;
  /** By kind. Jobs of other kinds are left to other workers. */
  handlers: ReadonlyMap<string, JobHandler>;
  log: JobLog;
  /** Claims under way at once, each of one merchant. Default 8. */
  merchantsAtOnce?: number;
  /** Jobs that each merchant may have running at once, however many merchants have work. Default 200. */
  batchSize?: number;
  /** The part of `runningMax` that merchants with work share; a single one gets all of it. Default 0.5. */
  sharedPart?: number;
  /** Jobs running or waiting for their outcome to be written, of all merchants. Default 2,000. */
  runningMax?: number;
  /** Free room, of `runningMax`, that a claim waits for. Default 1. */
  roomMin?: number;
  /** Kinds that are claimed after a merchant's other jobs, as thousands may be due at once. Default none. */
  lowPriorityKinds?: readonly string[];
  /** How often to poll for work without a notice: due times, retries, dead workers. Default 500. */
  pollEveryMs?: number;
  /** Default 30,000. */
  leaseMs?: number;
  /** Default 5,000. */
  renewEveryMs?: number;
}

export interface JobWorker {
  /** Claims nothing more, lets running jobs end for `graceMs`, then aborts the rest and gives their leases back. */
  stop(graceMs: number): Promise<void>;
  /** Polls for due work now. */
  wake(): void;
  /** Resolves when no job that this worker could take is due and none is running here. */
  idle(): Promise<void>;
}

/** Starts a worker. It never throws and never ends by itself; while the database is away it retries. */
export function startWorker(options: WorkerOptions): JobWorker {
  return new Worker(options);
}

/**
 * Polls for merchants with due work, claims batches of them in turn, runs the handlers and writes the outcomes.
 * It claims only while its presence session is up and its last poll succeeded.
 */
class Worker implements JobWorker {
  readonly #options: Required<WorkerOptions>;
  readonly #kinds: string[];
  readonly #outage: Outage;
  readonly #presence: Presence;
  readonly #results: Results;
  readonly #scheduler: ClaimScheduler;
  readonly #owners = new DeadOwners();
  readonly #dueTimer: DueTimer;
  readonly #endListening: () => void;
  readonly #renewTimer: NodeJS.Timeout;
  readonly #runs = new Set<ActiveRun>();
  readonly #revisions: RevisionWatcher;
  readonly #pollSignal = new WakeSignal();
  readonly #quietSignal = new WakeSignal();
  readonly #stopping = new AbortController();
  #stopped: Promise<void> | undefined;
  #deadOwners: readonly number[] = [];
  #pollAgain = false;
  #claimsFail = false;
  #adopted = false;
  #renewal: Promise<void> | undefined;
  #pumpIsDue = false;

  constructor(options: WorkerOptions) {
    this.#options = { ...DEFAULTS, fastDb: options.db, ...options };
    this.#kinds = [...options.handlers.keys()];
    this.#outage = new Outage(options.log);
    this.#scheduler = new ClaimScheduler(this.#options);
    this.#revisions = new RevisionWatcher(options.db);
    this.#results = new Results({
      db: options.db,
      outage: this.#outage,
      onSettled: (run, fate) => this.#settled(run, fate),
    });
    this.#dueTimer = new DueTimer({
      nowMs: () => options.clock.nowMs(),
      onDue: (merchantId) => this.#offer(merchantId),
    });
    const notifier = WorkerNotifier.of(options.db);
    this.#endListening = notifier.listen((notice) => this.#receive(notice));
    this.#presence = new Presence({
      url: options.url,
      outage: this.#outage,
      onUp: () => void this.#adopt(),
      onDown: () => this.#orphan(),
      onNotice: (message) => {
        const notice = notifier.read(message);
        if (notice !== undefined) this.#receive(notice);
      },
    });
    this.#renewTimer = setInterval(() => void this.#renew(false), this.#options.renewEveryMs);
    void this.#keepPolling();
  }

  wake(): void {
    this.#pollSignal.wake();
  }

  async idle(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      if (this.#mayClaim() && !this.#isBusy()) {
        const found = await this.#poll().catch(() => undefined);
        if (found === 0 && !this.#isBusy()) return;
        this.#pump();
      }
      await pause(IDLE_CHECK_EVERY_MS, this.#stopping.signal);
    }
  }

  stop(graceMs: number): Promise<void> {
    this.#stopped ??= this.#stop(graceMs);
    return this.#stopped;
  }

  async #stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    this.#endListening();
    this.#dueTimer.close();
    this.#pollSignal.wake();
    await this.#becomeQuiet(graceMs);
    for (const run of this.#runs) run.abort();
    const given = new AbortController();
    await Promise.race([this.#giveBack(), pause(GIVE_BACK_TIMEOUT_MS, given.signal)]);
    // A timer left over would keep the process alive.
    given.abort();
    this.#results.close();
    clearInterval(this.#renewTimer);
    await this.#presence.close();
  }

  async #becomeQuiet(withinMs: number): Promise<void> {
    const endMs = performance.now() + withinMs;
    for (let leftMs = withinMs; this.#isBusy() && leftMs > 0; leftMs = endMs - performance.now()) {
      await this.#quietSignal.wait(leftMs);
    }
  }

  async #giveBack(): Promise<void> {
    // A claim in progress may still return jobs, which are given back as well.
    while (this.#scheduler.claims > 0) await this.#quietSignal.wait(IDLE_CHECK_EVERY_MS);
    const left = [...this.#runs].filter((run) => run.state === 'running');
    for (const run of left) run.lose();
    for (const [merchantId, runs] of Map.groupBy(left, (run) => run.job.merchantId)) {
      const changes = runs.map((run) => ({ lease: run.job, release: giveBack(run.job) }));
      await releaseJobs(this.#options.db, merchantId, changes).catch((error: unknown) => {
        const fields = { error: describeError(error) };
        this.#options.log.warn(fields, 'jobs: leases not given back, they will run out');
      });
    }
  }

  #isBusy(): boolean {
    return this.#runs.size > 0 || this.#scheduler.claims > 0;
  }

  #mayClaim(): boolean {
    return this.#adopted && !this.#claimsFail && !this.#stopping.signal.aborted;
  }

  /** After each new session, before the first claim: moves the leases of running jobs to the new number. */
  async #adopt(): Promise<void> {
    const owner = this.#presence.owner;
    // A renewal in progress writes the old number.
    await this.#renewal;
    await this.#renew(true);
    if (this.#presence.owner !== owner || owner === undefined) return;
    this.#adopted = true;
    this.#pollSignal.wake();
    this.#pump();
  }

  #orphan(): void {
    this.#adopted = false;
    for (const run of this.#runs) run.abort();
  }

  #receive({ merchantId, kind, dueAtMs }: JobNotice): void {
    if (kind !== undefined && !this.#options.handlers.has(kind)) return;
    this.#revisions.check(merchantId);
    this.#expect(merchantId, dueAtMs);
  }

  /** A job of this merchant is due then. Beyond 10 s the poll finds it. */
  #expect(merchantId: string, dueAtMs: number): void {
    const inMs = dueAtMs - this.#options.clock.nowMs();
    if (inMs <= 0) this.#offer(merchantId);
    else if (inMs <= REMEMBERED_MS && !this.#stopping.signal.aborted) this.#dueTimer.add(merchantId, dueAtMs);
  }

  #offer(merchantId: string): void {
    this.#scheduler.add(merchantId);
    this.#pump();
  }

  async #renew(all: boolean): Promise<void> {
    const owner = this.#presence.owner;
    if (this.#renewal !== undefined || owner === undefined) return;
    const { fastDb, leaseMs, clock } = this.#options;
    const options = { db: fastDb, outage: this.#outage, leaseMs, all, nowMs: () => clock.nowMs() };
    this.#renewal = renewRuns(this.#runs, owner, options);
    await this.#renewal;
    this.#renewal = undefined;
    this.#revisions.checkAll();
  }

  async #keepPolling(): Promise<void> {
    for (let failures = 0; !this.#stopping.signal.aborted; ) {
      if (!this.#adopted) {
        await this.#pollSignal.wait(this.#options.pollEveryMs);
        continue;
      }
      const startedMs = performance.now();
      try {
        await this.#poll();
        failures = 0;
        this.#claimsFail = false;
        this.#outage.worked('claims');
        this.#pump();
        await this.#pollSignal.wait(nextPollMs(this.#options.pollEveryMs, performance.now() - startedMs));
      } catch (error) {
        // After `stop` the pool may be closed.
        if (this.#stopping.signal.aborted) return;
        failures += 1;
        this.#outage.failed('claims', error);
        await pause(reconnectMs(failures), this.#stopping.signal);
      }
    }
  }

  /** Queues merchants with due work. @returns how many there are. */
  async #poll(): Promise<number> {
    const { db, clock, pollEveryMs } = this.#options;
    const nowMs = clock.nowMs();
    const asker = { owners: this.#owners, own: this.#presence.owner ?? 0 };
    const found = await poll(db, asker, { kinds: this.#kinds, nowMs, untilMs: nowMs + pollEveryMs });
    for (const { merchantId } of found.due) this.#scheduler.add(merchantId);
    for (const { merchantId, dueAtMs } of found.upcoming) this.#expect(merchantId, dueAtMs);
    this.#deadOwners = found.deadOwners;
    this.#pollAgain = found.isCut;
    return found.due.length;
  }

  /** Pumps once for all events of this turn of the loop. */
  #pumpLater(): void {
    if (this.#pumpIsDue) return;
    this.#pumpIsDue = true;
    setImmediate(() => {
      this.#pumpIsDue = false;
      this.#pump();
    });
  }

  /** Starts as many claims as there is room for. */
  #pump(): void {
    while (this.#mayClaim()) {
      const grant = this.#scheduler.next();
      if (grant === undefined) break;
      void this.#claim(grant);
    }
    if (this.#pollAgain && this.#scheduler.isEmpty) {
      this.#pollAgain = false;
      this.#pollSignal.wake();
    }
  }

  async #claim(grant: ClaimGrant): Promise<void> {
    const { leaseMs, db, fastDb, clock, lowPriorityKinds } = this.#options;
    const owner = this.#presence.owner ?? 0;
    const nowMs = clock.nowMs();
    const leaseUntilMs = nowMs + leaseMs;
    const lease = { owner, fence: newFence(), leaseUntilMs };
    const claimer = { nowMs, kinds: this.#kinds, deadOwners: this.#deadOwners, lowPriorityKinds, ...lease };
    try {
      const jobs = await claimJobs(fastDb, grant.merchantId, { ...claimer, limit: grant.limit });
      this.#scheduler.claimed(grant, jobs.length);
      for (const job of jobs) this.#begin(new ActiveRun(db, job, leaseUntilMs));
    } catch (error) {
      this.#scheduler.claimed(grant, 0);
      this.#scheduler.add(grant.merchantId);
      this.#claimsFail = true;
      this.#outage.failed('claims', error);
      this.#pollSignal.wake();
    }
    this.#quietSignal.wake();
    this.#pump();
  }

  #begin(run: ActiveRun): void {
    this.#runs.add(run);
    this.#revisions.began(run);
    // Claimed while the session broke: the lease belongs to a number that is gone.
    if (!this.#adopted) run.abort();
    void this.#execute(run);
  }

  async #execute(run: ActiveRun): Promise<void> {
    const { handlers, log, clock } = this.#options;
    const { job } = run;
    const isLate = this.#stopping.signal.aborted;
    const ending = isLate
      ? ({ type: 'interrupted' } as const)
      : await handle(run, handlers.get(job.kind), log);
    this.#scheduler.ended(job.merchantId);
    if (run.state === 'running') {
      const jitter = ending.type === 'threw' ? randomInt(JITTER_STEPS + 1) / JITTER_STEPS : 0;
      this.#results.add(run, settle(job, ending, { nowMs: clock.nowMs(), jitter }));
      this.#pumpLater();
    } else {
      this.#settled(run, { wasHeld: run.state === 'finished', nextDueMs: run.nextDueMs });
    }
  }

  #settled(run: ActiveRun, { wasHeld, nextDueMs }: Fate): void {
    const { merchantId, jobId, kind } = run.job;
    this.#runs.delete(run);
    this.#revisions.ended(run);
    this.#scheduler.settled();
    if (!wasHeld) this.#options.log.warn({ merchantId, jobId, kind }, 'jobs: a run ended without its lease');
    if (nextDueMs !== undefined) this.#expect(merchantId, nextDueMs);
    if (!this.#isBusy()) this.#quietSignal.wake();
    this.#pumpLater();
  }
}
