import type { App } from './app.ts';
import { checkoutHandlers } from './checkout/index.ts';
import { sweepAccounts } from './console/accounts/index.ts';
import { custodyHandlers, WATCH_TANK_JOB } from './custody/index.ts';
import { EVENT_SETTINGS } from './events/index.ts';
import { mailHandlers } from './mail/index.ts';
import { observeJobs } from './monitoring/index.ts';
import { settleActivation, WATCH_METHODS_JOB, watchMethods } from './payment-methods/mandates/index.ts';
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
import { REQUEST_LOG_SETTINGS, REQUEST_LOG_TABLE } from './request-log/index.ts';
import { sandboxHandlers } from './sandbox/index.ts';
import { deleteOldNonces } from './stores/keys/index.ts';
import { DUE_JOB, subscriptionHandlers } from './subscriptions/index.ts';
import { readSettings } from './tenancy/settings/index.ts';
import { MANDATE_DECIDED_JOB } from './transfers/charges/index.ts';
import { recordHistory } from './transfers/history/index.ts';
import { SEND_JOB, sendTransfers } from './transfers/index.ts';
import { advanceRotation, ROTATION_JOB } from './transfers/rotation/index.ts';
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

/** Mails that a process holds at once, of one merchant and of all: the few that it sends, and the next ones. */
const MAILS_OF_MERCHANT = 10;
const MAILS_AT_ONCE = 20;

/** The handlers of all job kinds, except deliveries. */
export function jobHandlers(app: App): ReadonlyMap<string, JobHandler> {
  return new Map<string, JobHandler>([
    ...payoutHandlers(app),
    [SEND_JOB, (job, run) => sendTransfers(app, job, run)],
    [ROTATION_JOB, (job, run) => advanceRotation(app, job, run)],
    ...subscriptionHandlers(app),
    [MANDATE_DECIDED_JOB, (job, run) => settleActivation(app, job, run)],
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
    [MAINTAIN_DAYS_JOB, () => maintainAllDays(app)],
  ]);
}

/**
 * Creates the next daily partitions of events, deliveries and requests, and drops those beyond their retention; and deletes
 * sessions and links that have ended.
 */
async function maintainAllDays(app: App): Promise<JobOutcome> {
  const installation = { merchantId: NIL_ID, mode: 'live' } as const;
  const [events, requests] = await Promise.all([
    readSettings(app.db, installation, EVENT_SETTINGS),
    readSettings(app.db, installation, REQUEST_LOG_SETTINGS),
  ]);
  const failures: unknown[] = [];
  await sweepAccounts(app.db, app.clock.nowMs()).catch((error: unknown) => failures.push(error));
  for (const [tables, { retentionDays }] of [
    [TABLES_BY_DAY, events],
    [[REQUEST_LOG_TABLE], requests],
  ] as const) {
    try {
      await maintainTables(app, tables, retentionDays);
    } catch (error) {
      failures.push(error);
    }
  }
  // Each has had its turn; the job tries again.
  if (failures.length > 0) throw failures[0];
  return { againAtMs: app.clock.nowMs() + MAINTAIN_DAYS_EVERY_MS };
}

async function maintainTables(app: App, tables: readonly string[], retentionDays: number): Promise<void> {
  const { added, dropped, left } = await maintainDays(app.databaseUrl, tables, retentionDays);
  if (dropped.length > 0) app.log.info({ dropped, added }, 'old days were dropped');
  if (left.length > 0)
    app.log.warn({ left }, 'daily partitions could not be created or dropped; retried in an hour');
}

/**
 * Starts the workers and enqueues the installation's own jobs. Deliveries have a worker of their own, so that a thousand
 * hanging receivers delay nothing else, and so has mail where a mail server is configured, which may hang as well.
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
  const mails = mailHandlers(app);
  const sendsMail = app.mailServer !== undefined;
  const sender = startWorker({
    ...common,
    handlers: observeJobs(new Map([...delivery.handlers, ...(sendsMail ? [] : mails)]), app.metrics),
    runningMax: ENDPOINTS_AT_ONCE,
    sharedPart: 0.9,
  });
  const workers = [worker, sender];
  if (sendsMail) {
    const handlers = observeJobs(new Map(mails), app.metrics);
    workers.push(
      startWorker({ ...common, handlers, runningMax: MAILS_AT_ONCE, batchSize: MAILS_OF_MERCHANT }),
    );
  }
  return {
    stop: async (graceMs) => {
      delivery.stop();
      await Promise.all(workers.map((each) => each.stop(graceMs)));
    },
    wake: () => {
      for (const each of workers) each.wake();
    },
    idle: async () => {
      await Promise.all(workers.map((each) => each.idle()));
    },
  };
}
