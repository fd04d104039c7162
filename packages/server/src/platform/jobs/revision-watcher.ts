import type { Db } from '../db/db.ts';
import { listNewRevisions } from './queries.ts';
import type { ActiveRun } from './run.ts';

/**
 * Passes new revisions of jobs, which were enqueued again while they run, to handlers that listen. One read for each
 * merchant at a time. What a read misses (a lost notice, a database that is away) the next one finds.
 */
export class RevisionWatcher {
  readonly #db: Db;
  /** By merchant, so that a notice for one does not go through all runs. */
  readonly #runs = new Map<string, Set<ActiveRun>>();
  /** Merchants that are being read; true where a notice came meanwhile. */
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

  /** Reads the revisions of a merchant's running jobs. */
  check(merchantId: string): void {
    if (this.#reading.has(merchantId)) this.#reading.set(merchantId, true);
    else void this.#read(merchantId);
  }

  checkAll(): void {
    for (const merchantId of this.#runs.keys()) this.check(merchantId);
  }

  async #read(merchantId: string): Promise<void> {
    do {
      this.#reading.set(merchantId, false);
      const runs = [...(this.#runs.get(merchantId) ?? [])].filter((run) => run.listens);
      if (runs.length === 0) break;
      const leases = runs.map((run) => run.job);
      const revisions = await listNewRevisions(this.#db, merchantId, leases).catch(
        () => new Map<string, number>(),
      );
      for (const run of runs) run.noteRevision(revisions.get(run.job.jobId) ?? 0);
    } while (this.#reading.get(merchantId) === true);
    this.#reading.delete(merchantId);
  }
}
