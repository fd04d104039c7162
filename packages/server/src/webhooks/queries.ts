import type { RecordedEventType, WebhookEventChoice } from '@florin/contract/schemas';
import { sql } from 'kysely';
import { madeAt } from '../platform/db/ids/index.ts';
import type { Db, Tx } from '../platform/db/index.ts';
import { deferred, listed, prepared } from '../platform/db/statements/index.ts';
import { DELIVERY_MOVES, type Health, type NextState } from './states.ts';
import './tables.ts';

// Deliveries are partitioned by day of event_id. Statements that know the events' ids name the least and the greatest of
// them, so that PostgreSQL prunes the other partitions.

const least = (ids: readonly string[]) => ids.reduce((a, b) => (a < b ? a : b));
const greatest = (ids: readonly string[]) => ids.reduce((a, b) => (a > b ? a : b));

export interface EndpointSubscription {
  endpoint_id: string;
  types: WebhookEventChoice[];
  status: 'enabled' | 'disabled';
}

/** All endpoints of a store, locked `for share`. */
export async function lockEndpoints(
  tx: Tx,
  merchantId: string,
  storeId: string,
): Promise<EndpointSubscription[]> {
  const { rows } = await prepared<EndpointSubscription>`
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

/** Creation time by the merchant's clock, taken from the id, so that lists by id are lists by time. */
const createdAtOf = (deliveryId: string, clockOffset: number) => madeAt(deliveryId) + clockOffset;

interface StoreClock {
  merchantId: string;
  storeId: string;
  clockOffset: number;
}

function deliveryInsert({ merchantId, storeId, clockOffset }: StoreClock, rows: readonly NewDelivery[]) {
  const fresh = listed('r', rows, {
    event_id: ['uuid', (row) => row.eventId],
    endpoint_id: ['uuid', (row) => row.endpointId],
    delivery_id: ['uuid', (row) => row.deliveryId],
    event_type: ['text', (row) => row.eventType],
    number: ['bigint', (row) => row.number],
    status: ['text', (row) => row.status],
    due_at: ['bigint', (row) => row.dueAt],
    event_created_at: ['bigint', (row) => row.eventCreatedAt],
    created_at: ['bigint', (row) => createdAtOf(row.deliveryId, clockOffset)],
  });
  return sql`
    insert into delivery (merchant_id, store_id, event_id, endpoint_id, delivery_id, event_type, number, status,
                          due_at, event_created_at, created_at)
    select ${merchantId}::uuid, ${storeId}::uuid, r.* from ${fresh}
    on conflict (merchant_id, event_id, endpoint_id) do nothing`;
}

/** Inserts deliveries; an event that has one for the endpoint keeps it. @returns how many are new */
export async function insertDeliveries(
  tx: Tx,
  store: StoreClock,
  rows: readonly NewDelivery[],
): Promise<number> {
  const result = await prepared`${deliveryInsert(store, rows)}`.execute(tx);
  return Number(result.numAffectedRows ?? 0);
}

/** The same without the count: the statement is pipelined with the next one of the transaction. */
export async function publishDeliveries(
  tx: Tx,
  store: StoreClock,
  rows: readonly NewDelivery[],
): Promise<void> {
  await deferred`${deliveryInsert(store, rows)}`.execute(tx);
}

/** An endpoint joined with one of its next pending deliveries. */
export interface DueRow {
  endpoint_id: string;
  url: string;
  status: 'enabled' | 'disabled';
  failures: number;
  /** Null, as all columns below, where nothing is pending. */
  event_id: string | null;
  event_type: RecordedEventType;
  series_attempts: number;
  due_at: bigint;
}

interface BodyRow {
  endpoint_id: null;
  event_id: string;
  body: string;
}

export interface Pending {
  due: DueRow[];
  /** By the ids of their events. */
  bodies: ReadonlyMap<string, string>;
}

/**
 * The next pending deliveries of several endpoints of a merchant: first tries in order of creation, then retries by due
 * time, future ones included; at most `limit` of each kind per endpoint. The body of an event is returned once, however
 * many endpoints it goes to.
 */
export async function listPending(
  db: Db,
  merchantId: string,
  endpoints: readonly { endpointId: string; limit: number }[],
): Promise<Pending> {
  const wanted = listed('w', endpoints, {
    endpoint_id: ['uuid', ({ endpointId }) => endpointId],
    most: ['integer', ({ limit }) => limit],
  });
  const { rows } = await prepared<(DueRow & { body: null }) | BodyRow>`
    with due as materialized (
      select e.endpoint_id, e.url, e.status, e.failures, d.event_id, d.event_type, d.series_attempts, d.due_at
      from ${wanted}
      join webhook_endpoint e on e.merchant_id = ${merchantId}::uuid and e.endpoint_id = w.endpoint_id
      left join lateral (
        (select event_id, event_type, series_attempts, due_at from delivery
         where merchant_id = ${merchantId}::uuid and endpoint_id = e.endpoint_id and status = 'pending' and series_attempts = 0
         order by number limit w.most)
        union all
        (select event_id, event_type, series_attempts, due_at from delivery
         where merchant_id = ${merchantId}::uuid and endpoint_id = e.endpoint_id and status = 'pending' and series_attempts > 0
         order by due_at, number limit w.most)
      ) d on true
    )
    select endpoint_id, url, status, failures, event_id, event_type, series_attempts, due_at, null::text as body from due
    union all
    select null, null, null, null, event_id, null, null, null,
           (select body from event v where v.merchant_id = ${merchantId}::uuid and v.event_id = known.event_id)
    from (select distinct event_id from due where event_id is not null) as known`.execute(db);
  const due: DueRow[] = [];
  const bodies = new Map<string, string>();
  for (const row of rows) {
    if (row.endpoint_id !== null) due.push(row);
    else if (row.body !== null) bodies.set(row.event_id, row.body);
  }
  return { due, bodies };
}

/** One attempt, to be appended to its delivery, which moves to `next`. */
export interface AttemptRecord {
  endpointId: string;
  eventId: string;
  /** Attempts of the series that were recorded when this one began. */
  seriesBefore: number;
  next: NextState;
  /** A `StoredAttempt` in JSON. */
  attempt: string;
}

export interface CountedRecord extends AttemptRecord {
  /** How the attempt changes its endpoint's failures; `none`: a test, or an acknowledgement without failures before it. */
  health: 'none' | 'acknowledged' | 'failed';
  /** When the attempt began, real time. */
  beganMs: number;
}

/**
 * Writes attempts of one merchant, without checking a lease, as they did happen. Where another worker has recorded an
 * attempt of the same series meanwhile, only an acknowledgement still counts. A delivery that was paused meanwhile stays
 * paused unless it ends. Idempotent: a second write changes nothing.
 */
export async function recordAttempts(
  db: Db,
  merchantId: string,
  records: readonly AttemptRecord[],
): Promise<void> {
  await prepared`${writeAttempts(merchantId, records)}`.execute(db);
}

/** Deliveries that an attempt may still end. */
const UNDECIDED = DELIVERY_MOVES.before('delivered');

function writeAttempts(merchantId: string, records: readonly AttemptRecord[]) {
  const eventIds = records.map(({ eventId }) => eventId);
  const attempted = listed('r', records, {
    event_id: ['uuid', ({ eventId }) => eventId],
    endpoint_id: ['uuid', ({ endpointId }) => endpointId],
    series_before: ['smallint', ({ seriesBefore }) => seriesBefore],
    status: ['text', ({ next }) => next.status],
    series_after: ['smallint', ({ next }) => next.seriesAttempts],
    due_at: ['bigint', ({ next }) => next.dueAt],
    attempt: ['text', ({ attempt }) => attempt],
  });
  return sql`
    update delivery d set
      status = case when r.status = 'pending' then d.status else r.status end,
      series_attempts = r.series_after,
      due_at = r.due_at,
      attempts = d.attempts || r.attempt::jsonb
    from ${attempted}
    where d.merchant_id = ${merchantId}::uuid and d.event_id = r.event_id and d.endpoint_id = r.endpoint_id
      and d.event_id between ${least(eventIds)}::uuid and ${greatest(eventIds)}::uuid
      and d.status = any(${UNDECIDED}::text[])
      and (d.series_attempts = r.series_before or r.status = 'delivered')`;
}

/**
 * The same, and updates the failure counts of the endpoints in the order in which attempts ended: failures add up, an
 * acknowledgement resets them. One statement, so that only attempts it has written are counted: sent again after a lost
 * answer to its commit, it counts nothing.
 *
 * @returns the health of the endpoints afterwards
 */
export async function recordCounted(
  db: Db,
  merchantId: string,
  records: readonly CountedRecord[],
): Promise<Map<string, Health>> {
  const counted = records.filter(({ health }) => health !== 'none');
  const ended = listed('c', counted, {
    event_id: ['uuid', ({ eventId }) => eventId],
    endpoint_id: ['uuid', ({ endpointId }) => endpointId],
    health: ['text', ({ health }) => health],
    began_ms: ['bigint', ({ beganMs }) => Math.floor(beganMs)],
    position: ['integer', (_record, index) => index],
  });
  const { rows } = await prepared<{
    endpoint_id: string;
    failures: number;
    failing_since_ms: bigint | null;
  }>`
    with locked as materialized (
      -- Lock order: endpoints by id, as a publisher locks them, and before their deliveries, as an update of an
      -- endpoint does.
      select endpoint_id from webhook_endpoint
      where merchant_id = ${merchantId}::uuid
        and endpoint_id = any(${counted.map(({ endpointId }) => endpointId)}::uuid[])
      order by endpoint_id for no key update
    ), written as (
      ${writeAttempts(merchantId, records)} and (select count(*) from locked) >= 0
      returning d.event_id, d.endpoint_id
    ), counted as (
      select c.*, max(position) filter (where health = 'acknowledged') over (partition by endpoint_id) as last_one
      from ${ended} join written using (event_id, endpoint_id)
    ), sums as (
      select endpoint_id, bool_or(health = 'acknowledged') as acknowledged,
             count(*) filter (where health = 'failed' and position > coalesce(last_one, -1)) as failures,
             min(began_ms) filter (where health = 'failed' and position > coalesce(last_one, -1)) as since_ms
      from counted group by endpoint_id
    )
    update webhook_endpoint e set
      failures = case when s.acknowledged then 0 else e.failures end + coalesce(s.failures, 0),
      failing_since_ms = case when s.acknowledged then s.since_ms else coalesce(e.failing_since_ms, s.since_ms) end
    from locked left join sums s on s.endpoint_id = locked.endpoint_id
    where e.merchant_id = ${merchantId}::uuid and e.endpoint_id = locked.endpoint_id
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

/** Locks an endpoint (`for update`). */
export async function lockEndpoint(tx: Tx, merchantId: string, endpointId: string) {
  return await tx
    .selectFrom('webhook_endpoint')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('endpoint_id', '=', endpointId)
    .forUpdate()
    .executeTakeFirst();
}
