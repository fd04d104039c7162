import { randomInt } from 'node:crypto';
import type { Clock } from '../db/clock.ts';
import type { Db } from '../db/db.ts';
import { type Call, Calls } from './calls.ts';
import { describeError, giveBack, nextLookMs, reconnectMs, settle } from './decisions.ts';
import { handle } from './handle.ts';
import { type JobHandler, type JobLog, newFence } from './job.ts';
import { look } from './look.ts';
import { News } from './news.ts';
import { Outage } from './outage.ts';
import { Owners } from './owners.ts';
import { Presence } from './presence.ts';
import { claimJobs, releaseJobs } from './queries.ts';
import { renewRuns } from './renewal.ts';
import { type Fate, Results } from './results.ts';
import { ActiveRun } from './run.ts';
import { Soon } from './soon.ts';
import { type Turn, Turns } from './turns.ts';
import { Bell, pause } from './waiting.ts';

const DEFAULTS = {
  merchantsAtOnce: 8,
  batchSize: 200,
  sharedPart: 0.5,
  runningMax: 2_000,
  roomMin: 1,
  pollEveryMs: 500,
  leaseMs: 30_000,
  renewEveryMs: 5_000,
  patientKinds: [] as readonly string[],
};
/** Longer than looks are apart on a machine that others load: what is known to be due then waits for none of them. */
const REMEMBERED_MS = 10_000;
const GIVE_BACK_TIMEOUT_MS = 2_000;
const IDLE_CHECK_EVERY_MS = 20;
const JITTER_STEPS = 1_000;

export interface WorkerOptions {
  /** For steps and outcomes; commits synchronously. */
  db: Db;
  /**
   * For claims and renewals, which may be forgotten in a crash of the database as nothing under them is durable then
   * either: it may commit asynchronously, so that a job begins without waiting for the disk. Default `db`.
   */
  fastDb?: Db;
  /** For the worker's one session; must not lead through a pooler that shares sessions. */
  url: string;
  clock: Pick<Clock, 'nowMs'>;
  /** By kind. Jobs of other kinds are left to other workers. */
  handlers: ReadonlyMap<string, JobHandler>;
  log: JobLog;
  /** Claims under way at once, each of one merchant. Default 8. */
  merchantsAtOnce?: number;
  /** Jobs that each merchant may have running at once, however many merchants have work. Default 200. */
  batchSize?: number;
  /** The part of `runningMax` that merchants with work divide among them; one alone gets it whole. Default 0.5. */
  sharedPart?: number;
  /** Jobs running or waiting for their outcome to be written, of all merchants. Default 2,000. */
  runningMax?: number;
  /** What a claim waits for, of `runningMax`. Default 1. */
  roomMin?: number;
  /** Kinds of which a merchant may have thousands due at once: they never hold up its other jobs. Default none. */
  patientKinds?: readonly string[];
  /** How often to look for work that nobody called for: due times, retries, dead workers. Default 500. */
  pollEveryMs?: number;
  /** Default 30,000. */
  leaseMs?: number;
  /** Default 5,000. */
  renewEveryMs?: number;
}

export interface JobWorker {
  /** Claims nothing more, lets running jobs end for `graceMs`, then aborts the rest and gives their leases back. */
  stop(graceMs: number): Promise<void>;
  /** Looks for due work now. */
  wake(): void;
  /** Resolves when no job that this worker could take is due and none is running here. */
  idle(): Promise<void>;
}

/** Starts taking jobs. Never throws and never ends by itself: a database that is away is waited for. */
export function startWorker(options: WorkerOptions): JobWorker {
  return new Worker(options);
}

/**
 * Looks for merchants with due work, claims a batch of each in turn, runs the handlers and writes their outcomes.
 * It claims only while its presence session stands and its last look worked.
 */
class Worker implements JobWorker {
  readonly #options: Required<WorkerOptions>;
  readonly #kinds: string[];
  readonly #outage: Outage;
  readonly #presence: Presence;
  readonly #results: Results;
  readonly #turns: Turns;
  readonly #owners = new Owners();
  readonly #soon: Soon;
  readonly #endListening: () => void;
  readonly #renewTimer: NodeJS.Timeout;
  readonly #runs = new Set<ActiveRun>();
  readonly #news: News;
  readonly #lookBell = new Bell();
  readonly #quietBell = new Bell();
  readonly #stopping = new AbortController();
  #stopped: Promise<void> | undefined;
  #deadOwners: readonly number[] = [];
  #lookAgain = false;
  #claimsFail = false;
  #adopted = false;
  #renewal: Promise<void> | undefined;
  #pumpIsDue = false;

  constructor(options: WorkerOptions) {
    this.#options = { ...DEFAULTS, fastDb: options.db, ...options };
    this.#kinds = [...options.handlers.keys()];
    this.#outage = new Outage(options.log);
    this.#turns = new Turns(this.#options);
    this.#news = new News(options.db);
    this.#results = new Results({
      db: options.db,
      outage: this.#outage,
      onSettled: (run, fate) => this.#settled(run, fate),
    });
    this.#soon = new Soon({
      nowMs: () => options.clock.nowMs(),
      onDue: (merchantId) => this.#offer(merchantId),
    });
    const calls = Calls.of(options.db);
    this.#endListening = calls.listen((call) => this.#call(call));
    this.#presence = new Presence({
      url: options.url,
      outage: this.#outage,
      onUp: () => void this.#adopt(),
      onDown: () => this.#orphan(),
      onCall: (message) => {
        const call = calls.read(message);
        if (call !== undefined) this.#call(call);
      },
    });
    this.#renewTimer = setInterval(() => void this.#renew(false), this.#options.renewEveryMs);
    void this.#keepLooking();
  }

  wake(): void {
    this.#lookBell.ring();
  }

  async idle(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      if (this.#mayClaim() && !this.#isBusy()) {
        const found = await this.#look().catch(() => undefined);
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
    this.#soon.close();
    this.#lookBell.ring();
    await this.#becomeQuiet(graceMs);
    for (const run of this.#runs) run.abort();
    const given = new AbortController();
    await Promise.race([this.#giveBack(), pause(GIVE_BACK_TIMEOUT_MS, given.signal)]);
    // A timer that nobody waits for any more would keep the process alive.
    given.abort();
    this.#results.close();
    clearInterval(this.#renewTimer);
    await this.#presence.close();
  }

  async #becomeQuiet(withinMs: number): Promise<void> {
    const endMs = performance.now() + withinMs;
    for (let leftMs = withinMs; this.#isBusy() && leftMs > 0; leftMs = endMs - performance.now()) {
      await this.#quietBell.wait(leftMs);
    }
  }

  async #giveBack(): Promise<void> {
    // A claim under way may still bring jobs, which are given back as they come.
    while (this.#turns.claims > 0) await this.#quietBell.wait(IDLE_CHECK_EVERY_MS);
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
    return this.#runs.size > 0 || this.#turns.claims > 0;
  }

  #mayClaim(): boolean {
    return this.#adopted && !this.#claimsFail && !this.#stopping.signal.aborted;
  }

  /** After each new session, before the first claim: running jobs go on under the new number, unless overtaken. */
  async #adopt(): Promise<void> {
    const owner = this.#presence.owner;
    // One that is under way writes the old number.
    await this.#renewal;
    await this.#renew(true);
    if (this.#presence.owner !== owner || owner === undefined) return;
    this.#adopted = true;
    this.#lookBell.ring();
    this.#pump();
  }

  #orphan(): void {
    this.#adopted = false;
    for (const run of this.#runs) run.abort();
  }

  #call({ merchantId, kind, dueAtMs }: Call): void {
    if (kind !== undefined && !this.#options.handlers.has(kind)) return;
    this.#news.called(merchantId);
    this.#expect(merchantId, dueAtMs);
  }

  /** A job of this merchant is due then. Looks find what is due later than this worker remembers. */
  #expect(merchantId: string, dueAtMs: number): void {
    const inMs = dueAtMs - this.#options.clock.nowMs();
    if (inMs <= 0) this.#offer(merchantId);
    else if (inMs <= REMEMBERED_MS && !this.#stopping.signal.aborted) this.#soon.add(merchantId, dueAtMs);
  }

  #offer(merchantId: string): void {
    this.#turns.add(merchantId);
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
    this.#news.lookAll();
  }

  async #keepLooking(): Promise<void> {
    for (let failures = 0; !this.#stopping.signal.aborted; ) {
      if (!this.#adopted) {
        await this.#lookBell.wait(this.#options.pollEveryMs);
        continue;
      }
      const startedMs = performance.now();
      try {
        await this.#look();
        failures = 0;
        this.#claimsFail = false;
        this.#outage.worked('claims');
        this.#pump();
        await this.#lookBell.wait(nextLookMs(this.#options.pollEveryMs, performance.now() - startedMs));
      } catch (error) {
        // Who stops a worker may close its pool next.
        if (this.#stopping.signal.aborted) return;
        failures += 1;
        this.#outage.failed('claims', error);
        await pause(reconnectMs(failures), this.#stopping.signal);
      }
    }
  }

  /** Puts the merchants who have due work into the queue. @returns how many there are. */
  async #look(): Promise<number> {
    const { db, clock, pollEveryMs } = this.#options;
    const nowMs = clock.nowMs();
    const asker = { owners: this.#owners, own: this.#presence.owner ?? 0 };
    const sight = await look(db, asker, { kinds: this.#kinds, nowMs, untilMs: nowMs + pollEveryMs });
    for (const { merchantId } of sight.due) this.#turns.add(merchantId);
    for (const { merchantId, dueAtMs } of sight.soon) this.#expect(merchantId, dueAtMs);
    this.#deadOwners = sight.deadOwners;
    this.#lookAgain = sight.isCut;
    return sight.due.length;
  }

  /** Once for all that happens in this turn of the loop. */
  #pumpLater(): void {
    if (this.#pumpIsDue) return;
    this.#pumpIsDue = true;
    setImmediate(() => {
      this.#pumpIsDue = false;
      this.#pump();
    });
  }

  /** Begins as many claims as there is room for. */
  #pump(): void {
    while (this.#mayClaim()) {
      const turn = this.#turns.next();
      if (turn === undefined) break;
      void this.#claim(turn);
    }
    if (this.#lookAgain && this.#turns.isEmpty) {
      this.#lookAgain = false;
      this.#lookBell.ring();
    }
  }

  async #claim(turn: Turn): Promise<void> {
    const { leaseMs, db, fastDb, clock, patientKinds } = this.#options;
    const owner = this.#presence.owner ?? 0;
    const nowMs = clock.nowMs();
    const leaseUntilMs = nowMs + leaseMs;
    const lease = { owner, fence: newFence(), leaseUntilMs };
    const claimer = { nowMs, kinds: this.#kinds, deadOwners: this.#deadOwners, patientKinds, ...lease };
    try {
      const jobs = await claimJobs(fastDb, turn.merchantId, { ...claimer, limit: turn.limit });
      this.#turns.claimed(turn, jobs.length);
      for (const job of jobs) this.#begin(new ActiveRun(db, job, leaseUntilMs));
    } catch (error) {
      this.#turns.claimed(turn, 0);
      this.#turns.add(turn.merchantId);
      this.#claimsFail = true;
      this.#outage.failed('claims', error);
      this.#lookBell.ring();
    }
    this.#quietBell.ring();
    this.#pump();
  }

  #begin(run: ActiveRun): void {
    this.#runs.add(run);
    this.#news.began(run);
    // Claimed while the session broke: nobody vouches for it any more.
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
    this.#turns.ended(job.merchantId);
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
    this.#news.ended(run);
    this.#turns.settled();
    if (!wasHeld) this.#options.log.warn({ merchantId, jobId, kind }, 'jobs: a run ended without its lease');
    if (nextDueMs !== undefined) this.#expect(merchantId, nextDueMs);
    if (!this.#isBusy()) this.#quietBell.ring();
    this.#pumpLater();
  }
}
