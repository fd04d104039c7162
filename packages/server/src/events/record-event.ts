import type { RecordedEventType } from '@florin/contract/schemas';
import { sql } from 'kysely';
import type { Tx } from '../platform/db.ts';
import { encodeId, newId } from '../platform/ids.ts';
import { enqueue } from '../platform/jobs/index.ts';
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
  const previous = changedFields(
    change.before as Record<string, unknown> | null,
    change.after as Record<string, unknown>,
  );
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

/** As `recordEvent`, of one merchant's changes of different resources in one transaction. @returns the events' ids */
export async function recordEvents(tx: Tx, changes: readonly Change[]): Promise<string[]> {
  // In a fixed order, so that two transactions that change the same resources wait instead of deadlocking.
  const news = changes
    .flatMap((change) => prepare(change) ?? [])
    .sort((a, b) => (a.resource < b.resource ? -1 : 1));
  const [first] = news;
  if (first === undefined) return [];
  const { merchantId } = first;
  const column = (pick: (one: Prepared) => string) => news.map(pick);
  const recorded = sql`
    with fresh as (
      select * from unnest(${column((n) => n.eventId)}::uuid[], ${column((n) => n.storeId)}::uuid[],
        ${column((n) => n.type)}::text[], ${column((n) => n.resource)}::text[], ${column((n) => n.head)}::text[],
        ${column((n) => n.tail)}::text[], ${news.map((n) => n.nowSeconds)}::bigint[],
        ${news.map((n) => n.nowMs)}::bigint[])
        as f (event_id, store_id, type, resource, head, tail, created_at, recorded_at_ms)
    ), next as (
      insert into event_sequence as s (merchant_id, resource, sequence)
      select ${merchantId}::uuid, resource, 1 from fresh
      on conflict (merchant_id, resource) do update set sequence = s.sequence + 1
      returning resource, sequence
    ), news as (
      insert into event (merchant_id, event_id, store_id, type, resource, sequence, body, created_at, recorded_at_ms)
      select ${merchantId}::uuid, f.event_id, f.store_id, f.type, f.resource, next.sequence,
             f.head || next.sequence::text || f.tail, f.created_at, f.recorded_at_ms
      from fresh f join next on next.resource = f.resource
    )`;
  // A job for each change and store: one of the whole store would be a row that all its changes wait for.
  const stores = new Map(news.map(({ storeId, nowMs }) => [storeId, nowMs]));
  const jobs = [...stores].map(([storeId, dueAtMs]) => ({
    merchantId,
    kind: PUBLISH_JOB,
    dueAtMs,
    payload: { storeId },
  }));
  await enqueue(tx, jobs, recorded);
  return news.map((one) => one.eventId);
}
