import type { Db, Tx } from '../db.ts';
import { transact } from '../transact.ts';
import { settleOutcome } from './decisions.ts';
import { type ClaimedJob, type JobOutcome, type JobRun, LeaseLost } from './job.ts';
import { lockLease, lockLeases, releaseJobs, removeJobs, type Settled } from './queries.ts';

/**
 * One run of one job. It is `running`, then perhaps `finished` (its last step wrote the outcome) or `lost` (another
 * worker has it, or this one gave it back). Only the fence in the database decides what may be written; these states
 * spare statements that would hit nothing.
 */
export class ActiveRun implements JobRun {
  readonly job: ClaimedJob;
  leaseUntilMs: number;
  /** When the job that `finish` wrote back is due (real Unix milliseconds); undefined where it is gone. */
  nextDueMs: number | undefined;
  #newsListener: (() => void) | undefined;
  #state: 'running' | 'finished' | 'lost' = 'running';
  readonly #db: Db;
  #aborted = false;
  /** Made for handlers that ask for it: most are over before they could. */
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

  onNews(listener: (() => void) | undefined): void {
    this.#newsListener = listener;
  }

  get listens(): boolean {
    return this.#newsListener !== undefined;
  }

  /** The row has come to this revision: whoever listens looks anew. */
  tellNews(revision: number): void {
    // What nobody looks at any more is left in the row, where whoever writes the outcome finds it.
    if (this.#newsListener === undefined || revision <= this.job.revision) return;
    this.job.revision = revision;
    this.#newsListener();
  }

  get isAborted(): boolean {
    return this.#aborted;
  }

  /** Tells the handler to begin nothing new; it still has the job as long as the fence says so. */
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

  /** A step of several runs of one merchant. @throws LeaseLost when any of them has lost its job: nothing was changed. */
  async stepWith<T>(others: readonly ActiveRun[], change: (tx: Tx) => Promise<T>): Promise<T> {
    const runs = [this, ...others];
    for (const run of runs) run.#assertRunning();
    return transact(this.#db, async (tx) => {
      const leases = runs.map((run) => run.job);
      const held = await lockLeases(tx, this.job.merchantId, leases);
      const lost = runs.filter(({ job }) => !held.has(job.jobId));
      for (const run of lost) run.lose();
      if (lost[0] !== undefined) throw new LeaseLost(lost[0].job);
      return change(tx);
    });
  }

  async finish<T>(change: (tx: Tx) => Promise<T>, outcome?: (result: T) => JobOutcome): Promise<T> {
    this.#assertRunning();
    const { result, settled } = await transact(this.#db, async (tx) => {
      await this.#lock(tx);
      const result = await change(tx);
      return { result, settled: await this.#write(tx, outcome?.(result) ?? 'done') };
    });
    this.#state = 'finished';
    this.nextDueMs = settled.waiting.get(this.job.jobId);
    return result;
  }

  async #lock(tx: Tx): Promise<void> {
    if (await lockLease(tx, this.job.merchantId, this.job)) return;
    this.lose();
    throw new LeaseLost(this.job);
  }

  async #write(tx: Tx, outcome: JobOutcome): Promise<Settled> {
    const { job } = this;
    const settlement = settleOutcome(outcome);
    return settlement.act === 'remove'
      ? await removeJobs(tx, job.merchantId, [job])
      : await releaseJobs(tx, job.merchantId, [{ lease: job, release: settlement }]);
  }

  #assertRunning(): void {
    if (this.#state === 'lost') throw new LeaseLost(this.job);
    if (this.#state === 'finished')
      throw new Error(`job ${this.job.jobId} (${this.job.kind}) has finished already`);
  }
}

/**
 * Several runs of one merchant's jobs that do their work together: a step changes something only while this worker still
 * has all of these jobs.
 */
export function joinRuns(runs: readonly JobRun[]): Pick<JobRun, 'step' | 'signal'> {
  const [first, ...others] = runs;
  if (first === undefined) throw new Error('there is no run to join');
  if (others.length === 0) return first;
  if (!(first instanceof ActiveRun) || !others.every((run) => run instanceof ActiveRun))
    throw new Error('only runs of a worker can be joined');
  return {
    step: (change) => first.stepWith(others, change),
    signal: AbortSignal.any(runs.map((run) => run.signal)),
  };
}
