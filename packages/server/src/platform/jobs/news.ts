import type { Db } from '../db/db.ts';
import { listNews } from './queries.ts';
import type { ActiveRun } from './run.ts';

/**
 * Tells running jobs of a merchant that they were asked for again, those whose handlers listen: one reading a merchant
 * at a time. What a reading misses (a call that was lost, a database that is away) the next one tells.
 */
export class News {
  readonly #db: Db;
  /** By merchant: a call of one does not go through the runs of all. */
  readonly #runs = new Map<string, Set<ActiveRun>>();
  /** By merchant: whether a call came while its reading was under way. */
  readonly #reading = new Map<string, boolean>();

  constructor(db: Db) {
    this.#db = db;
  }

  began(run: ActiveRun): void {
    const { merchantId } = run.job;
    const own = this.#runs.get(merchantId) ?? new Set();
    this.#runs.set(merchantId, own.add(run));
  }

  ended(run: ActiveRun): void {
    const { merchantId } = run.job;
    const own = this.#runs.get(merchantId);
    own?.delete(run);
    if (own?.size === 0) this.#runs.delete(merchantId);
  }

  /** The merchant has new work, perhaps of jobs that run here. */
  called(merchantId: string): void {
    if (this.#reading.has(merchantId)) this.#reading.set(merchantId, true);
    else void this.#read(merchantId);
  }

  /** Looks for all merchants. */
  lookAll(): void {
    for (const merchantId of this.#runs.keys()) this.called(merchantId);
  }

  async #read(merchantId: string): Promise<void> {
    do {
      this.#reading.set(merchantId, false);
      const runs = [...(this.#runs.get(merchantId) ?? [])].filter((run) => run.listens);
      if (runs.length === 0) break;
      const leases = runs.map((run) => run.job);
      const revisions = await listNews(this.#db, merchantId, leases).catch(() => new Map<string, number>());
      for (const run of runs) run.tellNews(revisions.get(run.job.jobId) ?? 0);
    } while (this.#reading.get(merchantId) === true);
    this.#reading.delete(merchantId);
  }
}
