import type { Db } from '../db.ts';
import { listNews } from './queries.ts';
import type { ActiveRun } from './run.ts';

/**
 * Tells running jobs of a merchant that they were asked for again, those whose handlers listen: one reading a merchant
 * at a time. What a reading misses (a call that was lost, a database that is away) the next one tells.
 */
export class News {
  readonly #db: Db;
  readonly #runs: ReadonlySet<ActiveRun>;
  /** By merchant: whether a call came while its reading was under way. */
  readonly #reading = new Map<string, boolean>();

  constructor(db: Db, runs: ReadonlySet<ActiveRun>) {
    this.#db = db;
    this.#runs = runs;
  }

  /** The merchant has new work, perhaps of jobs that run here. */
  called(merchantId: string): void {
    if (this.#reading.has(merchantId)) this.#reading.set(merchantId, true);
    else void this.#read(merchantId);
  }

  /** Looks for all merchants. */
  lookAll(): void {
    const merchants = new Set([...this.#runs].filter((run) => run.listens).map((run) => run.job.merchantId));
    for (const merchantId of merchants) this.called(merchantId);
  }

  async #read(merchantId: string): Promise<void> {
    do {
      this.#reading.set(merchantId, false);
      const runs = [...this.#runs].filter((run) => run.listens && run.job.merchantId === merchantId);
      if (runs.length === 0) break;
      const leases = runs.map((run) => run.job);
      const revisions = await listNews(this.#db, merchantId, leases).catch(() => new Map<string, number>());
      for (const run of runs) run.tellNews(revisions.get(run.job.jobId) ?? 0);
    } while (this.#reading.get(merchantId) === true);
    this.#reading.delete(merchantId);
  }
}
