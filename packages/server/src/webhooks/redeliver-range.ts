import type { RedeliverInput, Redelivery } from '@florin/contract/schemas';
import type { Tx } from '../platform/db/index.ts';
import { NIL_ID, newId, transact } from '../platform/db/index.ts';
import type { Caller } from '../platform/http/index.ts';
import { enqueue } from '../platform/jobs/index.ts';
import type { Platform } from '../platform/platform.ts';
import { checkEnabled } from './check-endpoint.ts';
import { type EventSeen, moveDeliveries, pickHalted, seeEvents } from './delivery-queries.ts';
import { type EndpointRow, getEndpoint } from './endpoint-queries.ts';
import { deliverJob } from './jobs.ts';
import { insertDeliveries, type NewDelivery } from './queries.ts';
import { wants } from './states.ts';

/** Of one transaction. A call that breaks off in the middle has sent what it counted; a second call goes on. */
const ROWS_MAX = 1_000;

interface Range {
  platform: Platform;
  caller: Caller;
  endpoint: string;
  since: number;
}

/** A transaction's part of the range, and where the next one begins; undefined: nothing is left. */
interface Part<Place> {
  count: number;
  next: Place | undefined;
}

/**
 * Sends what an endpoint missed since a time of the merchant's clock: its failed and exhausted deliveries, or the events
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
    // Events in order: what fails anew meanwhile is behind and is not taken twice.
    count += await eachPart(range, NIL_ID, async (tx, endpoint, after) => {
      const place = { after, since: range.since, limit: ROWS_MAX };
      const eventIds = await pickHalted(tx, endpoint, status, place);
      const dueAt = nowSeconds(range);
      await moveDeliveries(tx, endpoint, eventIds, { status: 'pending', dueAt, anew: true });
      return { count: eventIds.length, next: eventIds[ROWS_MAX - 1] };
    });
  }
  return count;
}

async function sendMissing(range: Range): Promise<number> {
  const start = { created: range.since, eventId: NIL_ID };
  return await eachPart(range, start, async (tx, endpoint, after) => {
    const seen = await seeEvents(tx, endpoint, after, ROWS_MAX);
    const missing = seen.filter((event): event is PublishedSeen => isMissing(event, endpoint));
    const fresh = missing.map(deliveryTo(endpoint, nowSeconds(range)));
    const count = fresh.length === 0 ? 0 : await insertDeliveries(tx, range.caller, fresh);
    const last = seen[ROWS_MAX - 1];
    return { count, next: last && { created: Number(last.created_at), eventId: last.event_id } };
  });
}

type PublishedSeen = EventSeen & { number: bigint };

/** An event that is not published yet gets its deliveries by itself. */
const isMissing = (event: EventSeen, endpoint: EndpointRow): event is PublishedSeen =>
  !event.has_delivery && event.number !== null && wants(endpoint.types, event.type);

const deliveryTo =
  (endpoint: EndpointRow, dueAt: number) =>
  (event: PublishedSeen): NewDelivery => ({
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

/** Runs the range part by part, each in a transaction that holds the endpoint as enabled. */
async function eachPart<Place>(
  { platform, caller, endpoint: text }: Range,
  start: Place,
  work: (tx: Tx, endpoint: EndpointRow, place: Place) => Promise<Part<Place>>,
): Promise<number> {
  const { merchantId, storeId } = caller;
  let count = 0;
  for (let place: Place | undefined = start; place !== undefined; ) {
    const from: Place = place;
    const part = await transact(platform.db, async (tx) => {
      const endpoint = await getEndpoint(tx, caller, text, 'hold');
      checkEnabled(endpoint);
      const done = await work(tx, endpoint, from);
      const job = deliverJob(
        { merchantId, storeId, endpointId: endpoint.endpoint_id },
        platform.clock.nowMs(),
      );
      if (done.count > 0) await enqueue(tx, [job]);
      return done;
    });
    count += part.count;
    place = part.next;
  }
  return count;
}
