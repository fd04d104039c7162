import type { Db } from '../db/db.ts';
import { reconnectMs, type Settlement } from './decisions.ts';
import type { Outage } from './outage.ts';
import { releaseJobs, removeJobs } from './queries.ts';
import type { ActiveRun } from './run.ts';
import { pause } from './waiting.ts';

interface Result {
  run: ActiveRun;
  settlement: Settlement;
}

/** What became of the row of a run. */
export interface Fate {
  /** False where it was another worker's already. */
  wasHeld: boolean;
  /** When the job is due next (real Unix milliseconds); undefined where it is gone. */
  nextDueMs: number | undefined;
}

export interface ResultsOptions {
  db: Db;
  outage: Outage;
  onSettled: (run: ActiveRun, fate: Fate) => void;
}

const LOST: Fate = { wasHeld: false, nextDueMs: undefined };

/**
 * Writes outcomes in batches: results of a merchant wait while its previous statement runs. A failed batch is repeated
 * until it succeeds; meanwhile its leases are renewed like those of running jobs.
 */
export class Results {
  readonly #options: ResultsOptions;
  readonly #waiting = new Map<string, Result[]>();
  readonly #writing = new Set<string>();
  #closed = false;

  constructor(options: ResultsOptions) {
    this.#options = options;
  }

  add(run: ActiveRun, settlement: Settlement): void {
    const { merchantId } = run.job;
    const waiting = this.#waiting.get(merchantId);
    if (waiting) waiting.push({ run, settlement });
    else this.#waiting.set(merchantId, [{ run, settlement }]);
    if (this.#writing.has(merchantId)) return;
    this.#writing.add(merchantId);
    // Runs that end in the same turn of the loop share the first batch.
    setImmediate(() => void this.#drain(merchantId));
  }

  /** Stops retrying: leases of outcomes that are not written yet run out. */
  close(): void {
    this.#closed = true;
  }

  async #drain(merchantId: string): Promise<void> {
    for (let failures = 0; ; ) {
      const batch = this.#take(merchantId);
      if (batch.length === 0) break;
      try {
        await this.#write(merchantId, batch);
        failures = 0;
        this.#options.outage.worked('results');
      } catch (error) {
        failures += 1;
        this.#options.outage.failed('results', error);
        if (this.#closed) return;
        this.#waiting.set(merchantId, [...batch, ...(this.#waiting.get(merchantId) ?? [])]);
        await pause(reconnectMs(failures));
      }
    }
    this.#writing.delete(merchantId);
  }

  /** Takes the waiting results, without runs whose lease was lost meanwhile. */
  #take(merchantId: string): Result[] {
    const all = this.#waiting.get(merchantId) ?? [];
    this.#waiting.delete(merchantId);
    for (const { run } of all) if (run.state === 'lost') this.#options.onSettled(run, LOST);
    return all.filter(({ run }) => run.state !== 'lost');
  }

  async #write(merchantId: string, batch: readonly Result[]): Promise<void> {
    const { db, onSettled } = this.#options;
    const removed = batch.filter(({ settlement }) => settlement.act === 'remove').map(({ run }) => run.job);
    const released = batch.flatMap(({ run, settlement }) =>
      settlement.act === 'release' ? [{ lease: run.job, release: settlement }] : [],
    );
    const settled = [
      ...(removed.length > 0 ? [await removeJobs(db, merchantId, removed)] : []),
      ...(released.length > 0 ? [await releaseJobs(db, merchantId, released)] : []),
    ];
    for (const { run } of batch) {
      const { jobId } = run.job;
      const wasHeld = !settled.some(({ lost }) => lost.has(jobId));
      const nextDueMs = settled.find(({ waiting }) => waiting.has(jobId))?.waiting.get(jobId);
      onSettled(run, { wasHeld, nextDueMs });
    }
  }
}
