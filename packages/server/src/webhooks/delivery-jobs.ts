import { PUBLISH_JOB } from '../events/index.ts';
import type { JobHandler } from '../platform/jobs/index.ts';
import { alignDeliveries } from './align-deliveries.ts';
import { Deliverer } from './deliver.ts';
import type { WebhookDeps } from './deps.ts';
import { ALIGN_JOB, DELIVER_JOB } from './jobs.ts';
import { publishEvents } from './publish.ts';

/** The delivery of events in one process: the handlers of its jobs, and a stop that starts no more attempts. */
export function createDeliveryJobs(deps: WebhookDeps): {
  handlers: ReadonlyMap<string, JobHandler>;
  stop(): void;
} {
  const deliverer = new Deliverer(deps);
  return {
    handlers: new Map<string, JobHandler>([
      [PUBLISH_JOB, (job) => publishEvents(deps, job)],
      [DELIVER_JOB, (job, run) => deliverer.run(job, run)],
      [ALIGN_JOB, (job, run) => alignDeliveries(deps, job, run)],
    ]),
    stop: () => deliverer.stop(),
  };
}
