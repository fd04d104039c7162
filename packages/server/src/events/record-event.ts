import type { RecordedEventType } from '@florin/contract/schemas';
import { sql } from 'kysely';
import { newId } from '../platform/db/ids/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { listed } from '../platform/db/statements/index.ts';
import { enqueue, type JobSpec } from '../platform/jobs/index.ts';
import { encodeId } from '../tenancy/index.ts';
import { changedFields } from './changed-fields.ts';
import './tables.ts';

const API_VERSION = '2026-04-20';
/** Placeholder of the sequence until the database assigns it; no JSON number equals it. */
const SEQUENCE_MARK = '"@sequence@"';

/** Numbers the new events of a store and makes their deliveries; payload `{ storeId }`. */
export const PUBLISH_JOB = 'events.publish';

export interface Change {
  merchantId: string;
  storeId: string;
  livemode: boolean;
  type: RecordedEventType;
  /** The public id; for an id that the merchant chose `resourceOf` of it. */
  resource: string;
  /** The resource as its GET answers before and after the whole change; `before` is null for a new resource. */
  before: object | null;
  after: object;
  /** Records the event even without a visible difference, such as a retry that failed like the one before. */
  always?: boolean;
  /** The merchant's clock. */
  nowSeconds: number;
  /** Real time. */
  nowMs: number;
  /** As of a `JobSpec`. */
  trace?: string | null | undefined;
}

interface Prepared extends Change {
  eventId: string;
  /** The body before and after its sequence. */
  head: string;
  tail: string;
}

/** @returns undefined for a change without a visible difference */
function prepare(change: Change): Prepared | undefined {
  const changed = changedFields(change.before, change.after);
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
  // The first mark is ours: later ones are data that contains the same text.
  const mark = body.indexOf(SEQUENCE_MARK);
  return { ...change, eventId, head: body.slice(0, mark), tail: body.slice(mark + SEQUENCE_MARK.length) };
}

/**
 * Records the event of a change, in the transaction of the change: its bytes are fixed here, its sequence is the next of
 * the resource. A change without a visible difference records nothing.
 *
 * @returns the event's id; undefined where nothing was recorded
 */
export async function recordEvent(tx: Tx, change: Change): Promise<string | undefined> {
  const [eventId] = await recordEvents(tx, [change]);
  return eventId;
}

/**
 * As `recordEvent`, for several changes of one merchant in one transaction. Lists, the stream and deliveries keep their
 * order; a resource may occur more than once.
 *
 * @param more jobs to enqueue with the change, in the same statement
 * @returns the events' ids, in this order
 */
export async function recordEvents(
  tx: Tx,
  changes: readonly Change[],
  more: readonly JobSpec[] = [],
): Promise<string[]> {
  const prepared = changes.flatMap((change) => prepare(change) ?? []);
  const [first] = prepared;
  if (first === undefined) {
    await enqueue(tx, more);
    return [];
  }
  const { merchantId } = first;
  const { counts, behind } = countByResource(prepared);
  const fresh = listed('f', prepared, {
    event_id: ['uuid', (one) => one.eventId],
    store_id: ['uuid', (one) => one.storeId],
    type: ['text', (one) => one.type],
    resource: ['text', (one) => one.resource],
    behind: ['bigint', (_one, i) => behind[i] ?? 0],
    head: ['text', (one) => one.head],
    tail: ['text', (one) => one.tail],
    created_at: ['bigint', (one) => one.nowSeconds],
    recorded_at_ms: ['bigint', (one) => one.nowMs],
  });
  const recorded = sql`
    with next as (
      insert into event_sequence as s (merchant_id, resource, sequence)
      select ${merchantId}::uuid, resource, count
      from ${listed('counted', counts, { resource: ['text', ([name]) => name], count: ['bigint', ([, n]) => n] })}
      on conflict (merchant_id, resource) do update set sequence = s.sequence + excluded.sequence
      returning resource, sequence
    ), recorded as (
      insert into event (merchant_id, event_id, store_id, type, resource, sequence, body, created_at, recorded_at_ms)
      select ${merchantId}::uuid, f.event_id, f.store_id, f.type, f.resource, next.sequence - f.behind,
             f.head || (next.sequence - f.behind)::text || f.tail, f.created_at, f.recorded_at_ms
      from ${fresh}
      join next on next.resource = f.resource
    )`;
  await enqueue(tx, [...publishJobs(prepared), ...more], recorded);
  return prepared.map((one) => one.eventId);
}

/**
 * Without keys: one job per store would be a row that all its changes wait for. One for each trace, so that what follows
 * from the work of a job continues its trace.
 */
function publishJobs(prepared: readonly Prepared[]): JobSpec[] {
  const jobs = new Map<string, JobSpec>();
  for (const { merchantId, storeId, nowMs: dueAtMs, trace } of prepared)
    jobs.set(`${storeId} ${trace}`, { merchantId, kind: PUBLISH_JOB, dueAtMs, payload: { storeId }, trace });
  return [...jobs.values()];
}

/** The number of events of each resource; and for each event, how many of its resource come after it. */
function countByResource(prepared: readonly Prepared[]) {
  const counted = new Map<string, number>();
  const positions = prepared.map(({ resource }) => {
    const position = (counted.get(resource) ?? 0) + 1;
    counted.set(resource, position);
    return position;
  });
  // A fixed lock order, so that transactions with the same resources wait instead of deadlocking.
  return {
    counts: [...counted].sort(([a], [b]) => (a < b ? -1 : 1)),
    behind: prepared.map(({ resource }, i) => (counted.get(resource) ?? 0) - (positions[i] ?? 0)),
  };
}
