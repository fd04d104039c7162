import type { RecordedEventType, WebhookEventChoice } from '@florin/contract/schemas';
import { sql } from 'kysely';
import { arrayText } from '../platform/array-text.ts';
import type { Db, Tx } from '../platform/db.ts';
import { madeAt } from '../platform/ids.ts';
import { kept } from '../platform/kept-plans.ts';
import type { Health, NextState } from './states.ts';
import './tables.ts';

// Deliveries lie in days by event_id: statements that know the events' ids name the least and the greatest of them, so
// that only the days in question are looked into.

const least = (ids: readonly string[]) => ids.reduce((a, b) => (a < b ? a : b));
const greatest = (ids: readonly string[]) => ids.reduce((a, b) => (a > b ? a : b));

export interface EndpointChoice {
  endpoint_id: string;
  types: WebhookEventChoice[];
  status: 'enabled' | 'disabled';
}

/** All endpoints of a store, each held as it is until the transaction ends. */
export async function lockEndpoints(tx: Tx, merchantId: string, storeId: string): Promise<EndpointChoice[]> {
  const { rows } = await sql<EndpointChoice>`${kept}
    select endpoint_id, types, status from webhook_endpoint
    where merchant_id = ${merchantId} and store_id = ${storeId}
    order by endpoint_id for share`.execute(tx);
  return rows;
}

export interface NewDelivery {
  deliveryId: string;
  endpointId: string;
  eventId: string;
  eventType: RecordedEventType;
  number: bigint;
  status: 'pending' | 'paused';
  /** The merchant's clock, as `eventCreatedAt`. */
  dueAt: number;
  eventCreatedAt: number;
}

/** When a delivery was made, by its merchant's clock: from its id, so that lists by id are lists by time. */
const createdAtOf = (deliveryId: string, clockOffset: number) => madeAt(deliveryId) + clockOffset;

/** An event that has a delivery to an endpoint already keeps it. @returns how many are new */
export async function insertDeliveries(
  tx: Tx,
  { merchantId, storeId, clockOffset }: { merchantId: string; storeId: string; clockOffset: number },
  rows: readonly NewDelivery[],
): Promise<number> {
  const result = await sql`${kept}
    insert into delivery (merchant_id, event_id, endpoint_id, delivery_id, store_id, event_type, number, status,
                          due_at, event_created_at, created_at)
    select ${merchantId}::uuid, r.event_id, r.endpoint_id, r.delivery_id, ${storeId}::uuid, r.event_type, r.number,
           r.status, r.due_at, r.event_created_at, r.created_at
    from unnest(
      ${arrayText(rows.map((row) => row.eventId))}::uuid[],
      ${arrayText(rows.map((row) => row.endpointId))}::uuid[],
      ${arrayText(rows.map((row) => row.deliveryId))}::uuid[],
      ${arrayText(rows.map((row) => row.eventType))}::text[],
      ${arrayText(rows.map((row) => row.number))}::bigint[],
      ${arrayText(rows.map((row) => row.status))}::text[],
      ${arrayText(rows.map((row) => row.dueAt))}::bigint[],
      ${arrayText(rows.map((row) => row.eventCreatedAt))}::bigint[],
      ${arrayText(rows.map((row) => createdAtOf(row.deliveryId, clockOffset)))}::bigint[]
    ) as r (event_id, endpoint_id, delivery_id, event_type, number, status, due_at, event_created_at, created_at)
    on conflict (merchant_id, event_id, endpoint_id) do nothing`.execute(tx);
  return Number(result.numAffectedRows ?? 0);
}

/** What an endpoint has to do: itself, and the next of its pending deliveries. */
export interface DueRow {
  endpoint_id: string;
  store_id: string;
  url: string;
  status: 'enabled' | 'disabled';
  failures: number;
  /** Null with all that follows: nothing is pending. */
  event_id: string | null;
  event_type: RecordedEventType;
  series_attempts: number;
  due_at: bigint;
  body: string;
}

/**
 * The next deliveries of several endpoints of a merchant: first tries in order of creation, then retries by due time,
 * those to come included; of each kind as many as `limits` says for the endpoint.
 */
export async function listPending(
  db: Db,
  merchantId: string,
  endpoints: readonly { endpointId: string; limit: number }[],
): Promise<DueRow[]> {
  const { rows } = await sql<DueRow>`${kept}
    select e.endpoint_id, e.store_id, e.url, e.status, e.failures,
           d.event_id, d.event_type, d.series_attempts, d.due_at,
           (select v.body from event v where v.merchant_id = ${merchantId} and v.event_id = d.event_id) as body
    from unnest(
      ${endpoints.map(({ endpointId }) => endpointId)}::uuid[],
      ${endpoints.map(({ limit }) => limit)}::integer[]
    ) as asked (endpoint_id, most)
    join webhook_endpoint e on e.merchant_id = ${merchantId} and e.endpoint_id = asked.endpoint_id
    left join lateral (
      (select event_id, event_type, series_attempts, due_at from delivery
       where merchant_id = ${merchantId} and endpoint_id = e.endpoint_id and status = 'pending' and series_attempts = 0
       order by number limit asked.most)
      union all
      (select event_id, event_type, series_attempts, due_at from delivery
       where merchant_id = ${merchantId} and endpoint_id = e.endpoint_id and status = 'pending' and series_attempts > 0
       order by due_at, number limit asked.most)
    ) d on true`.execute(db);
  return rows;
}

/** The record of one attempt: what is added to its delivery, which is then as `next` says. */
export interface AttemptRecord {
  endpointId: string;
  eventId: string;
  /** Attempts of the series that were recorded when this one began. */
  seriesBefore: number;
  next: NextState;
  /** A `DeliveryAttempt` in JSON. */
  attempt: string;
}

/** How the health of an endpoint changes by a few attempts: all of them, in the order of their ends. */
export interface HealthChange {
  endpointId: string;
  /** An acknowledgement was among them: what failed before does not count. */
  acknowledged: boolean;
  failures: number;
  /** When the first of those failures began, real time. */
  failingSinceMs: number | null;
}

/**
 * Writes attempts of one merchant. They did happen, so no lease is asked for; but where another worker has recorded an
 * attempt of the same series meanwhile, only an acknowledgement still counts. The delivery of an endpoint that was
 * disabled meanwhile stays paused until then.
 */
export async function recordAttempts(
  db: Db,
  merchantId: string,
  records: readonly AttemptRecord[],
): Promise<void> {
  const eventIds = records.map(({ eventId }) => eventId);
  await sql`${kept}
    update delivery d set
      status = case when r.status = 'pending' then d.status else r.status end,
      series_attempts = r.series_after,
      due_at = r.due_at,
      attempts = d.attempts || r.attempt::jsonb
    from unnest(
      ${arrayText(eventIds)}::uuid[],
      ${arrayText(records.map(({ endpointId }) => endpointId))}::uuid[],
      ${arrayText(records.map(({ seriesBefore }) => seriesBefore))}::smallint[],
      ${arrayText(records.map(({ next }) => next.status))}::text[],
      ${arrayText(records.map(({ next }) => next.seriesAttempts))}::smallint[],
      ${arrayText(records.map(({ next }) => next.dueAt))}::bigint[],
      ${arrayText(records.map(({ attempt }) => attempt))}::text[]
    ) as r (event_id, endpoint_id, series_before, status, series_after, due_at, attempt)
    where d.merchant_id = ${merchantId} and d.event_id = r.event_id and d.endpoint_id = r.endpoint_id
      and d.event_id between ${least(eventIds)}::uuid and ${greatest(eventIds)}::uuid
      and d.status in ('pending', 'paused')
      and (d.series_attempts = r.series_before or r.status = 'delivered')`.execute(db);
}

/** Adds to the endpoints' health. @returns theirs afterwards */
export async function changeHealth(
  db: Db,
  merchantId: string,
  changes: readonly HealthChange[],
): Promise<Map<string, Health>> {
  const { rows } = await sql<{
    endpoint_id: string;
    failures: number;
    failing_since_ms: bigint | null;
  }>`${kept}
    with locked as (
      -- In one order, as a publisher holds all endpoints of its store in the same.
      select endpoint_id from webhook_endpoint
      where merchant_id = ${merchantId} and endpoint_id = any(${changes.map((c) => c.endpointId)}::uuid[])
      order by endpoint_id for no key update
    )
    update webhook_endpoint e set
      failures = case when c.acknowledged then 0 else e.failures end + c.failures,
      failing_since_ms = case when c.acknowledged then c.since_ms else coalesce(e.failing_since_ms, c.since_ms) end
    from locked, unnest(
      ${changes.map((c) => c.endpointId)}::uuid[],
      ${changes.map((c) => c.acknowledged)}::boolean[],
      ${changes.map((c) => c.failures)}::integer[],
      ${changes.map((c) => c.failingSinceMs)}::bigint[]
    ) as c (endpoint_id, acknowledged, failures, since_ms)
    where e.merchant_id = ${merchantId} and e.endpoint_id = locked.endpoint_id and c.endpoint_id = e.endpoint_id
    returning e.endpoint_id, e.failures, e.failing_since_ms`.execute(db);
  return new Map(
    rows.map((row) => [
      row.endpoint_id,
      {
        failures: row.failures,
        failingSinceMs: row.failing_since_ms === null ? null : Number(row.failing_since_ms),
      },
    ]),
  );
}

/** Locks an endpoint for a change of its state. */
export async function lockEndpoint(tx: Tx, merchantId: string, endpointId: string) {
  return await tx
    .selectFrom('webhook_endpoint')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('endpoint_id', '=', endpointId)
    .forUpdate()
    .executeTakeFirst();
}
