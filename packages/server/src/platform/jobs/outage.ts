import { describeError } from './decisions.ts';
import type { JobLog } from './job.ts';

/** Parts of a worker whose statements may fail. */
type Part = 'session' | 'claims' | 'results' | 'leases';

/** Logs one line when the database stops answering and one when it answers again, however many parts notice. */
export class Outage {
  readonly #log: JobLog;
  readonly #failing = new Set<Part>();

  constructor(log: JobLog) {
    this.#log = log;
  }

  failed(part: Part, error: unknown): void {
    const first = this.#failing.size === 0;
    this.#failing.add(part);
    if (first)
      this.#log.error({ part, error: describeError(error) }, 'jobs: the database does not answer, retrying');
  }

  worked(part: Part): void {
    if (this.#failing.delete(part) && this.#failing.size === 0) {
      this.#log.info({ part }, 'jobs: the database answers again');
    }
  }
}
