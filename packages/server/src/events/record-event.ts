import type { RecordedEventType } from '@florin/contract/schemas';
import { sql } from 'kysely';
import type { Tx } from '../platform/db/index.ts';
import { newId } from '../platform/db/index.ts';
import { enqueue, type JobSpec } from '../platform/jobs/index.ts';
import { encodeId } from '../tenancy/index.ts';
import { changedFields } from './changed-fields.ts';
import './tables.ts';

const API_VERSION = '2026-04-20';
/** Stands where the sequence goes until the database has given it; no JSON number looks like it. */
const SEQUENCE_MARK = '"@sequence@"';

/** Numbers the new events of a store and hands them to whoever delivers; payload `{ storeId }`. */
export const PUBLISH_JOB = 'events.publish';

export interface Change {
  merchantId: string;
  storeId: string;
  livemode: boolean;
  type: RecordedEventType;
  /** The id as callers know it; `resourceOf` for one that the merchant chose. */
  resource: string;
  /** The resource as its GET answers before and after the whole change; `before` is null when the change made it. */
  before: object | null;
  after: object;
  /** Told even where no reader sees a difference: a further try that failed as the one before. */
  always?: boolean;
  /** The merchant's clock. */
  nowSeconds: number;
  /** Real time. */
  nowMs: number;
}

interface Prepared extends Change {
  eventId: string;
  /** The body on both sides of its sequence. */
  head: string;
  tail: string;
}

/** Undefined for a change that no reader can see. */
function prepare(change: Change): Prepared | undefined {
  const changed = changedFields(
    change.before as Record<string, unknown> | null,
    change.after as Record<string, unknown>,
  );
  const previous = changed === undefined && change.always ? {} : changed;
  if (previous === undefined) return undefined;
  const eventId = newId();
  const body = JSON.stringify({
    id: encodeId('event', eventId),
    object: 'event',
    type: change.type,
    api_version: API_VERSION,
    created: change.nowSeconds,
    store_id: encodeId('store', change.storeId),
    livemode: change.livemode,
    sequence: '@sequence@',
    data: { object: change.after, previous_attributes: previous },
  });
  // The first mark is ours: what follows in the body is data, in which the same text may stand.
  const mark = body.indexOf(SEQUENCE_MARK);
  return { ...change, eventId, head: body.slice(0, mark), tail: body.slice(mark + SEQUENCE_MARK.length) };
}

/**
 * Records the news of a change in its transaction: its bytes are fixed here, its sequence is the next of the resource.
 * A change that no reader can see is no news.
 *
 * @returns the event's id; undefined where nothing was recorded
 */
export async function recordEvent(tx: Tx, change: Change): Promise<string | undefined> {
  const [eventId] = await recordEvents(tx, [change]);
  return eventId;
}

/**
 * As `recordEvent`, of changes of one merchant in one transaction. Lists, the stream and deliveries have them in the order
 * in which they are given; one resource may be named more than once.
 *
 * @param more what else is to be done after the change, written with it; jobs with keys that changes side by side do not
 *   share
 * @returns the events' ids, in this order
 */
export async function recordEvents(
  tx: Tx,
  changes: readonly Change[],
  more: readonly JobSpec[] = [],
): Promise<string[]> {
  const news = changes.flatMap((change) => prepare(change) ?? []);
  const [first] = news;
  if (first === undefined) {
    await enqueue(tx, more);
    return [];
  }
  const { merchantId } = first;
  const column = (pick: (one: Prepared) => string) => news.map(pick);
  const { resources, counts, behind } = countByResource(news);
  const recorded = sql`
    with next as (
      insert into event_sequence as s (merchant_id, resource, sequence)
      select ${merchantId}::uuid, resource, count
      from unnest(${resources}::text[], ${counts}::bigint[]) as counted (resource, count)
      on conflict (merchant_id, resource) do update set sequence = s.sequence + excluded.sequence
      returning resource, sequence
    ), news as (
      insert into event (merchant_id, event_id, store_id, type, resource, sequence, body, created_at, recorded_at_ms)
      select ${merchantId}::uuid, f.event_id, f.store_id, f.type, f.resource, next.sequence - f.behind,
             f.head || (next.sequence - f.behind)::text || f.tail, f.created_at, f.recorded_at_ms
      from unnest(${column((n) => n.eventId)}::uuid[], ${column((n) => n.storeId)}::uuid[],
        ${column((n) => n.type)}::text[], ${column((n) => n.resource)}::text[], ${behind}::bigint[],
        ${column((n) => n.head)}::text[], ${column((n) => n.tail)}::text[], ${news.map((n) => n.nowSeconds)}::bigint[],
        ${news.map((n) => n.nowMs)}::bigint[])
        as f (event_id, store_id, type, resource, behind, head, tail, created_at, recorded_at_ms)
      join next on next.resource = f.resource
    )`;
  // A job for each change and store: one of the whole store would be a row that all its changes wait for.
  const stores = new Map(news.map(({ storeId, nowMs }) => [storeId, nowMs]));
  const jobs = [...stores].map(([storeId, dueAtMs]) => ({
    merchantId,
    kind: PUBLISH_JOB,
    dueAtMs,
    payload: { storeId },
  }));
  await enqueue(tx, [...jobs, ...more], recorded);
  return news.map((one) => one.eventId);
}

/** How many events each resource has among these; and of each event, how many of its resource come after it. */
function countByResource(news: readonly Prepared[]) {
  const counted = new Map<string, number>();
  const places = news.map(({ resource }) => {
    const place = (counted.get(resource) ?? 0) + 1;
    counted.set(resource, place);
    return place;
  });
  // Rows are locked in a fixed order, so that two transactions that change the same resources wait instead of deadlocking.
  const rows = [...counted].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    resources: rows.map(([resource]) => resource),
    counts: rows.map(([, count]) => count),
    behind: news.map(({ resource }, i) => (counted.get(resource) ?? 0) - (places[i] ?? 0)),
  };
}
