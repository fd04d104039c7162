import type { App } from './app.ts';
import { checkoutHandlers } from './checkout/index.ts';
import { custodyHandlers, WATCH_TANK_JOB } from './custody/index.ts';
import { EVENT_SETTINGS } from './events/index.ts';
import { mailHandlers } from './mail/index.ts';
import { observeJobs } from './monitoring/index.ts';
import { WATCH_METHODS_JOB, watchMethods } from './payment-methods/mandates/index.ts';
import { paymentHandlers } from './payments/index.ts';
import { payoutHandlers } from './payouts/index.ts';
import { NIL_ID } from './platform/db/ids/index.ts';
import { transact } from './platform/db/index.ts';
import { maintainDays } from './platform/db/migrations/index.ts';
import {
  enqueue,
  type JobHandler,
  type JobOutcome,
  type JobWorker,
  startWorker,
} from './platform/jobs/index.ts';
import { refundHandlers } from './refunds/index.ts';
import { sandboxHandlers } from './sandbox/index.ts';
import { deleteOldNonces } from './stores/keys/index.ts';
import { DUE_JOB, subscriptionHandlers } from './subscriptions/index.ts';
import { readSettings } from './tenancy/settings/index.ts';
import { recordHistory } from './transfers/history/index.ts';
import { SEND_JOB, sendTransfers } from './transfers/index.ts';
import { createDeliveryJobs, TABLES_BY_DAY } from './webhooks/index.ts';

const CLEAN_NONCES_JOB = 'stores.delete-old-nonces';
const CLEAN_NONCES_EVERY_MS = 60_000;
const MAINTAIN_DAYS_JOB = 'events.maintain-days';
const MAINTAIN_DAYS_EVERY_MS = 3_600_000;

/** Concurrent jobs per process. More would time out waiting for the few connections. */
const JOBS_AT_ONCE = 200;
/** Free slots before the next claim: jobs of a merchant that are claimed together share their statements. */
const ROOM_MIN = JOBS_AT_ONCE / 20;

/** Low priority: all renewals of a merchant may be due in one second, and its deposits, payouts and charges go first. */
const LOW_PRIORITY_KINDS = [DUE_JOB];

/** Concurrent endpoints: a run lasts as long as its slowest response, and most runs only wait. */
const ENDPOINTS_AT_ONCE = 10_000;

/** The handlers of all job kinds, except deliveries. */
export function jobHandlers(app: App): ReadonlyMap<string, JobHandler> {
  return new Map<string, JobHandler>([
    ...payoutHandlers(app),
    [SEND_JOB, (job, run) => sendTransfers(app, job, run)],
    ...subscriptionHandlers(app),
    [WATCH_METHODS_JOB, (job, run) => watchMethods(app, job, run)],
    ...paymentHandlers(app),
    ...checkoutHandlers(app),
    ...refundHandlers(app),
    ...custodyHandlers(app),
    ...sandboxHandlers(app),
    [
      CLEAN_NONCES_JOB,
      async () => {
        await deleteOldNonces(app);
        return { againAtMs: app.clock.nowMs() + CLEAN_NONCES_EVERY_MS };
      },
    ],
    [MAINTAIN_DAYS_JOB, () => maintainEventDays(app)],
  ]);
}

/** Creates the next daily partitions and drops those beyond the retention. */
async function maintainEventDays(app: App): Promise<JobOutcome> {
  const installation = { merchantId: NIL_ID, mode: 'live' } as const;
  const { retentionDays } = await readSettings(app.db, installation, EVENT_SETTINGS);
  const { added, dropped, left } = await maintainDays(app.databaseUrl, TABLES_BY_DAY, retentionDays);
  if (dropped.length > 0) app.log.info({ dropped, added }, 'old events and deliveries were dropped');
  if (left.length > 0)
    app.log.warn({ left }, 'daily partitions of events could not be created or dropped; retried in an hour');
  return { againAtMs: app.clock.nowMs() + MAINTAIN_DAYS_EVERY_MS };
}

/**
 * Starts the workers and enqueues the installation's own jobs. Deliveries have a worker of their own, so that a thousand
 * hanging receivers delay nothing else.
 */
export async function startWorkers(app: App): Promise<JobWorker> {
  const dueAtMs = app.clock.nowMs();
  const own = { merchantId: NIL_ID, uniqueKey: 'all', dueAtMs };
  await recordHistory(app.db);
  await transact(app.db, (tx) =>
    enqueue(tx, [
      { ...own, kind: CLEAN_NONCES_JOB },
      { ...own, kind: MAINTAIN_DAYS_JOB },
      ...(app.live === undefined ? [] : [{ ...own, kind: WATCH_TANK_JOB }]),
    ]),
  );
  const delivery = createDeliveryJobs(app);
  const common = { db: app.db, fastDb: app.claimsDb, url: app.databaseUrl, clock: app.clock, log: app.log };
  const worker = startWorker({
    ...common,
    handlers: observeJobs(jobHandlers(app), app.metrics),
    runningMax: JOBS_AT_ONCE,
    roomMin: ROOM_MIN,
    lowPriorityKinds: LOW_PRIORITY_KINDS,
  });
  const sender = startWorker({
    ...common,
    handlers: observeJobs(new Map([...delivery.handlers, ...mailHandlers(app)]), app.metrics),
    runningMax: ENDPOINTS_AT_ONCE,
    sharedPart: 0.9,
  });
  return {
    stop: async (graceMs) => {
      delivery.stop();
      await Promise.all([worker.stop(graceMs), sender.stop(graceMs)]);
    },
    wake: () => {
      worker.wake();
      sender.wake();
    },
    idle: async () => {
      await Promise.all([worker.idle(), sender.idle()]);
    },
  };
}
