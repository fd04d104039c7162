import { lockStream, numberEvents, type PublishedEvent } from '../events/index.ts';
import { newId } from '../platform/db/ids/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { transact } from '../platform/db/index.ts';
import { loaderPer } from '../platform/db/loaders/index.ts';
import { crashPoint, enqueue, type Job, type JobOutcome } from '../platform/jobs/index.ts';
import { getMerchant } from '../stores/index.ts';
import type { WebhookDeps } from './deps.ts';
import { deliverJob } from './jobs.ts';
import { lockEndpoints, type NewDelivery, publishDeliveries } from './queries.ts';
import { wants } from './states.ts';

/** Events per transaction; fewer where a store has many endpoints. */
const EVENTS_MAX = 500;
const DELIVERIES_MAX = 5_000;

interface StoreRef {
  merchantId: string;
  storeId: string;
}

/** One loader per process: concurrent jobs of one store run as one. */
const storesOf = loaderPer((deps: WebhookDeps) => ({
  maxBatch: Number.POSITIVE_INFINITY,
  loadBatch: async (_key: string, jobs: readonly StoreRef[]) => {
    const [store] = jobs;
    if (store !== undefined) await publishAll(deps, store);
    return jobs.map(() => undefined);
  },
}));

/** Handles `PUBLISH_JOB`: numbers a store's new events for its stream and makes their deliveries. */
export async function publishEvents(
  deps: WebhookDeps,
  job: Pick<Job, 'merchantId' | 'payload'>,
): Promise<JobOutcome> {
  const store = { merchantId: job.merchantId, storeId: String(job.payload.storeId) };
  await storesOf(deps).load(`${store.merchantId}/${store.storeId}`, store);
  return 'done';
}

async function publishAll(deps: WebhookDeps, store: StoreRef): Promise<void> {
  for (;;) {
    crashPoint('publish.before-transaction');
    const isMore = await transact(deps.db, (tx) => publishBatch(tx, deps, store));
    crashPoint('publish.after-commit');
    if (!isMore) return;
  }
}

/** One transaction of a store: numbers, deliveries and the jobs that send them. @returns whether there may be more */
async function publishBatch(tx: Tx, deps: WebhookDeps, { merchantId, storeId }: StoreRef): Promise<boolean> {
  const last = await lockStream(tx, merchantId, storeId);
  // Shared locks: a change of an endpoint's status waits for this commit, and then sees these deliveries.
  const endpoints = await lockEndpoints(tx, merchantId, storeId);
  const limit = Math.max(1, Math.min(EVENTS_MAX, Math.floor(DELIVERIES_MAX / (endpoints.length || 1))));
  const events = await numberEvents(tx, { merchantId, storeId, last }, limit);
  const deliveries = events.flatMap((event) =>
    endpoints.filter(({ types }) => wants(types, event.type)).map((endpoint) => deliveryOf(event, endpoint)),
  );
  if (deliveries.length > 0) {
    const { clockOffset } = await getMerchant(tx, merchantId);
    await publishDeliveries(tx, { merchantId, storeId, clockOffset }, deliveries);
    const active = new Set(deliveries.filter((d) => d.status === 'pending').map((d) => d.endpointId));
    await enqueue(
      tx,
      [...active].map((endpointId) => deliverJob({ merchantId, storeId, endpointId }, deps.clock.nowMs())),
    );
  }
  return events.length === limit;
}

function deliveryOf(
  event: PublishedEvent,
  endpoint: { endpoint_id: string; status: 'enabled' | 'disabled' },
): NewDelivery {
  return {
    deliveryId: newId(),
    endpointId: endpoint.endpoint_id,
    eventId: event.eventId,
    eventType: event.type,
    number: event.number,
    status: endpoint.status === 'enabled' ? 'pending' : 'paused',
    // First tries are due at once, by any clock.
    dueAt: event.createdAt,
    eventCreatedAt: event.createdAt,
  };
}
