import type { RecordedEventType } from '@florin/contract/schemas';
import { sql } from 'kysely';
import type { Tx } from '../platform/db.ts';
import { encodeId, newId } from '../platform/ids.ts';
import { enqueue } from '../platform/jobs/index.ts';
import { kept } from '../platform/kept-plans.ts';
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
  /** The id as callers know it. */
  resource: string;
  /** The resource as its GET answers before and after the whole change; `before` is null when the change made it. */
  before: object | null;
  after: object;
  /** The merchant's clock. */
  nowSeconds: number;
  /** Real time. */
  nowMs: number;
}

/**
 * Records the news of a change in its transaction: its bytes are fixed here, its sequence is the next of the resource.
 * A change that no reader can see is no news.
 *
 * @returns the event's id; undefined where nothing was recorded
 */
export async function recordEvent(tx: Tx, change: Change): Promise<string | undefined> {
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
  const head = body.slice(0, mark);
  const tail = body.slice(mark + SEQUENCE_MARK.length);
  await sql`${kept}
    with next as (
      insert into event_sequence as s (merchant_id, resource, sequence)
      values (${change.merchantId}, ${change.resource}, 1)
      on conflict (merchant_id, resource) do update set sequence = s.sequence + 1
      returning sequence
    )
    insert into event (merchant_id, event_id, store_id, type, resource, sequence, body, created_at, recorded_at_ms)
    select ${change.merchantId}::uuid, ${eventId}::uuid, ${change.storeId}::uuid, ${change.type}, ${change.resource},
           next.sequence, ${head}::text || next.sequence::text || ${tail}::text, ${change.nowSeconds}::bigint,
           ${change.nowMs}::bigint
    from next`.execute(tx);
  // A job for each event: one of the whole store would be a row that all its changes wait for.
  const { merchantId, storeId, nowMs } = change;
  await enqueue(tx, [{ merchantId, kind: PUBLISH_JOB, dueAtMs: nowMs, payload: { storeId } }]);
  return eventId;
}
