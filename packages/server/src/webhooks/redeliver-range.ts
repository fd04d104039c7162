import type { RedeliverInput, Redelivery } from '@florin/contract/schemas';
import { NIL_ID, newId } from '../platform/db/ids/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { transact } from '../platform/db/index.ts';
import type { Caller } from '../platform/http/index.ts';
import { enqueue } from '../platform/jobs/index.ts';
import type { Platform } from '../platform/platform.ts';
import { checkEnabled } from './check-endpoint.ts';
import {
  type EventWithDelivery,
  listEventsWithDelivery,
  lockStopped,
  moveDeliveries,
} from './delivery-queries.ts';
import { type EndpointRow, getEndpoint } from './endpoint-queries.ts';
import { deliverJob } from './jobs.ts';
import { insertDeliveries, type NewDelivery } from './queries.ts';
import { wants } from './states.ts';

/** Rows per transaction. A call that breaks off has committed the batches before; a second call continues. */
const ROWS_MAX = 1_000;

interface Range {
  platform: Platform;
  caller: Caller;
  endpoint: string;
  since: number;
}

/** `next` is where the following batch begins; undefined: the range is done. */
interface BatchResult<Cursor> {
  count: number;
  next: Cursor | undefined;
}

/**
 * Sends again what an endpoint missed since a time of the merchant's clock: its failed and exhausted deliveries, or events
 * of its types that have no delivery to it.
 *
 * @throws Fail `resource_not_found`, `forbidden`; `invalid_request` while the endpoint is disabled
 */
export async function redeliverRange(
  platform: Platform,
  caller: Caller,
  { endpoint, which, since }: RedeliverInput & { endpoint: string },
): Promise<Redelivery> {
  const range = { platform, caller, endpoint, since };
  const count = which === 'missing' ? await sendMissing(range) : await sendFailed(range);
  return { object: 'redelivery', endpoint_id: endpoint, count };
}

async function sendFailed(range: Range): Promise<number> {
  let count = 0;
  for (const status of ['failed', 'exhausted'] as const) {
    // In order of events: a delivery that fails again meanwhile is behind the cursor and is not sent twice.
    count += await forEachBatch(range, NIL_ID, async (tx, endpoint, after) => {
      const page = { after, since: range.since, limit: ROWS_MAX };
      const eventIds = await lockStopped(tx, endpoint, status, page);
      const dueAt = nowSeconds(range);
      await moveDeliveries(tx, endpoint, eventIds, { status: 'pending', dueAt, newSeries: true });
      return { count: eventIds.length, next: eventIds[ROWS_MAX - 1] };
    });
  }
  return count;
}

async function sendMissing(range: Range): Promise<number> {
  const start = { created: range.since, eventId: NIL_ID };
  return await forEachBatch(range, start, async (tx, endpoint, after) => {
    const seen = await listEventsWithDelivery(tx, endpoint, after, ROWS_MAX);
    const missing = seen.filter((event): event is PublishedEventRow => isMissing(event, endpoint));
    const fresh = missing.map(deliveryTo(endpoint, nowSeconds(range)));
    const count = fresh.length === 0 ? 0 : await insertDeliveries(tx, range.caller, fresh);
    const last = seen[ROWS_MAX - 1];
    return { count, next: last && { created: Number(last.created_at), eventId: last.event_id } };
  });
}

type PublishedEventRow = EventWithDelivery & { number: bigint };

/** An event that is not published yet will get its deliveries from the publisher. */
const isMissing = (event: EventWithDelivery, endpoint: EndpointRow): event is PublishedEventRow =>
  !event.has_delivery && event.number !== null && wants(endpoint.types, event.type);

const deliveryTo =
  (endpoint: EndpointRow, dueAt: number) =>
  (event: PublishedEventRow): NewDelivery => ({
    deliveryId: newId(),
    endpointId: endpoint.endpoint_id,
    eventId: event.event_id,
    eventType: event.type,
    number: event.number,
    status: 'pending',
    dueAt,
    eventCreatedAt: Number(event.created_at),
  });

const nowSeconds = ({ platform, caller }: Range) => platform.clock.nowSeconds() + caller.clockOffset;

/** Runs the range in batches, each in a transaction that locks the enabled endpoint `for share`. */
async function forEachBatch<Cursor>(
  { platform, caller, endpoint: text }: Range,
  start: Cursor,
  work: (tx: Tx, endpoint: EndpointRow, cursor: Cursor) => Promise<BatchResult<Cursor>>,
): Promise<number> {
  const { merchantId, storeId } = caller;
  let count = 0;
  for (let cursor: Cursor | undefined = start; cursor !== undefined; ) {
    const from: Cursor = cursor;
    const batch = await transact(platform.db, async (tx) => {
      const endpoint = await getEndpoint(tx, caller, text, 'share');
      checkEnabled(endpoint);
      const done = await work(tx, endpoint, from);
      const job = deliverJob(
        { merchantId, storeId, endpointId: endpoint.endpoint_id },
        platform.clock.nowMs(),
      );
      if (done.count > 0) await enqueue(tx, [job]);
      return done;
    });
    count += batch.count;
    cursor = batch.next;
  }
  return count;
}
