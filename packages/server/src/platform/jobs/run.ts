import type { Db, Tx } from '../db/db.ts';
import { transact } from '../db/transact.ts';
import { settleOutcome } from './decisions.ts';
import { type ClaimedJob, type JobOutcome, type JobRun, LeaseLost } from './job.ts';
import { lockLease, lockLeases, releaseJobs, removeJobs, type Settled } from './queries.ts';

/**
 * One run of one job. It is `running`, then perhaps `finished` (its last step wrote the outcome) or `lost` (another
 * worker has it, or this one gave it back). Only the fence in the database decides which writes are allowed; these
 * states save statements that would change no row.
 */
export class ActiveRun implements JobRun {
  readonly job: ClaimedJob;
  leaseUntilMs: number;
  /** When the job is due again after `finish` (real Unix milliseconds); undefined if it was removed. */
  nextDueMs: number | undefined;
  #revisionListener: (() => void) | undefined;
  #state: 'running' | 'finished' | 'lost' = 'running';
  readonly #db: Db;
  #aborted = false;
  /** Created on first use, because most handlers end without reading `signal`. */
  #abort: AbortController | undefined;

  constructor(db: Db, job: ClaimedJob, leaseUntilMs: number) {
    this.#db = db;
    this.job = job;
    this.leaseUntilMs = leaseUntilMs;
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#aborted) this.#abort.abort();
    return this.#abort.signal;
  }

  get state(): 'running' | 'finished' | 'lost' {
    return this.#state;
  }

  onRevision(listener: (() => void) | undefined): void {
    this.#revisionListener = listener;
  }

  get listens(): boolean {
    return this.#revisionListener !== undefined;
  }

  /** The job was enqueued again and has this revision now: calls the listener, which reads the work again. */
  noteRevision(revision: number): void {
    // Without a listener the revision stays in the row. The statement that writes the outcome finds it there.
    if (this.#revisionListener === undefined || revision <= this.job.revision) return;
    this.job.revision = revision;
    this.#revisionListener();
  }

  get isAborted(): boolean {
    return this.#aborted;
  }

  /** Aborts `signal`, so that the handler begins nothing new. The run keeps the job as long as its fence is valid. */
  abort(): void {
    this.#aborted = true;
    this.#abort?.abort();
  }

  /** Another worker has the job, or will have. */
  lose(): void {
    this.#state = 'lost';
    this.abort();
  }

  async step<T>(change: (tx: Tx) => Promise<T>): Promise<T> {
    this.#assertRunning();
    return transact(this.#db, async (tx) => {
      await this.#lock(tx);
      return change(tx);
    });
  }

  /** A step of several runs of one merchant. @throws LeaseLost if any of them has lost its job: nothing was changed */
  async stepWith<T>(others: readonly ActiveRun[], change: (tx: Tx) => Promise<T>): Promise<T> {
    const runs = [this, ...others];
    for (const run of runs) run.#assertRunning();
    return transact(this.#db, async (tx) => {
      await lockAll(tx, runs);
      return change(tx);
    });
  }

  async finish<T>(change: (tx: Tx) => Promise<T>, outcome?: (result: T) => JobOutcome): Promise<T> {
    return await this.finishWith([], change, outcome);
  }

  /**
   * The last step of several runs of one merchant, with one outcome for all their jobs.
   *
   * @throws LeaseLost as `stepWith`
   */
  async finishWith<T>(
    others: readonly ActiveRun[],
    change: (tx: Tx) => Promise<T>,
    outcome?: (result: T) => JobOutcome,
  ): Promise<T> {
    const runs = [this, ...others];
    for (const run of runs) run.#assertRunning();
    const { result, settled } = await transact(this.#db, async (tx) => {
      await (others.length === 0 ? this.#lock(tx) : lockAll(tx, runs));
      const result = await change(tx);
      return { result, settled: await writeOutcome(tx, runs, outcome?.(result) ?? 'done') };
    });
    for (const run of runs) {
      run.#state = 'finished';
      run.nextDueMs = settled.waiting.get(run.job.jobId);
    }
    return result;
  }

  async #lock(tx: Tx): Promise<void> {
    if (await lockLease(tx, this.job.merchantId, this.job)) return;
    this.lose();
    throw new LeaseLost(this.job);
  }

  #assertRunning(): void {
    if (this.#state === 'lost') throw new LeaseLost(this.job);
    if (this.#state === 'finished')
      throw new Error(`job ${this.job.jobId} (${this.job.kind}) has finished already`);
  }
}

/** Leases of runs of one merchant. */
async function lockAll(tx: Tx, runs: readonly ActiveRun[]): Promise<void> {
  const [first] = runs;
  if (first === undefined) return;
  const leases = runs.map((run) => run.job);
  const held = await lockLeases(tx, first.job.merchantId, leases);
  const lost = runs.filter(({ job }) => !held.has(job.jobId));
  for (const run of lost) run.lose();
  if (lost[0] !== undefined) throw new LeaseLost(lost[0].job);
}

async function writeOutcome(tx: Tx, runs: readonly ActiveRun[], outcome: JobOutcome): Promise<Settled> {
  const settlement = settleOutcome(outcome);
  const leases = runs.map((run) => run.job);
  const merchantId = leases[0]?.merchantId ?? '';
  return settlement.act === 'remove'
    ? await removeJobs(tx, merchantId, leases)
    : await releaseJobs(
        tx,
        merchantId,
        leases.map((lease) => ({ lease, release: settlement })),
      );
}

/**
 * Joins several runs of one merchant's jobs. A step is committed only while this worker still has all of these jobs.
 */
export function joinRuns(runs: readonly JobRun[]): Pick<JobRun, 'step' | 'finish' | 'signal'> {
  const [first, ...others] = runs;
  if (first === undefined) throw new Error('there is no run to join');
  if (others.length === 0) return first;
  if (!(first instanceof ActiveRun) || !others.every((run) => run instanceof ActiveRun))
    throw new Error('only runs of a worker can be joined');
  return {
    step: (change) => first.stepWith(others, change),
    finish: (change, outcome) => first.finishWith(others, change, outcome),
    signal: AbortSignal.any(runs.map((run) => run.signal)),
  };
}
