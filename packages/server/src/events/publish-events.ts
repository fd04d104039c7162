import type { RecordedEventType } from '@florin/contract/schemas';
import type { Db, Tx } from '../platform/db/index.ts';
import { deferred, listed, prepared } from '../platform/db/statements/index.ts';
import { notifyPublished } from './publish-notifier.ts';
import './tables.ts';

// The stream of a store: its events numbered 1, 2, 3 … in order of commit. Ids are assigned before the commit, so a reader
// that followed ids could skip an event whose commit was pending; a reader that has read up to a number has read all below.
// Invariant: under the lock of the store's row every committed event without a number gets the next one.

export interface PublishedEvent {
  eventId: string;
  type: RecordedEventType;
  number: bigint;
  /** The merchant's clock. */
  createdAt: number;
}

/** Locks the stream of a store for publishing. @returns the last number */
export async function lockStream(tx: Tx, merchantId: string, storeId: string): Promise<bigint> {
  const { rows } = await prepared<{ number: bigint }>`
    insert into event_stream_end as s (merchant_id, store_id, number) values (${merchantId}, ${storeId}, 0)
    on conflict (merchant_id, store_id) do update set number = s.number
    returning number`.execute(tx);
  return rows[0]?.number ?? 0n;
}

interface FreshRow {
  event_id: string;
  type: RecordedEventType;
  created_at: bigint;
}

/**
 * Numbers the committed events without a number, in order of their ids. Its statements begin after the lock was taken, so
 * they see everything that the publisher before saw.
 *
 * @returns the numbered events; as many as `limit` when there may be more
 */
export async function numberEvents(
  tx: Tx,
  store: { merchantId: string; storeId: string; last: bigint },
  limit: number,
): Promise<PublishedEvent[]> {
  const { merchantId, storeId, last } = store;
  const { rows } = await prepared<FreshRow>`
    select event_id, type, created_at from event
    where merchant_id = ${merchantId} and store_id = ${storeId} and number is null
    order by event_id limit ${limit}`.execute(tx);
  const [oldest, newest] = [rows[0]?.event_id, rows.at(-1)?.event_id];
  if (oldest === undefined || newest === undefined) return [];
  const published = rows.map((row, i) => ({
    eventId: row.event_id,
    type: row.type,
    number: last + BigInt(i + 1),
    createdAt: Number(row.created_at),
  }));
  // The bounds prune partitions: without them every day's table is read.
  await deferred`
    update event e set number = fresh.number
    from ${listed('fresh', published, { event_id: ['uuid', (e) => e.eventId], number: ['bigint', (e) => e.number] })}
    where e.merchant_id = ${merchantId} and e.event_id = fresh.event_id
      and e.event_id between ${oldest}::uuid and ${newest}::uuid`.execute(tx);
  await deferred`
    update event_stream_end set number = ${last + BigInt(rows.length)}
    where merchant_id = ${merchantId} and store_id = ${storeId}`.execute(tx);
  notifyPublished(tx);
  return published;
}

/** The events after a number, oldest first. `after` 0: from the beginning. */
export async function readStream(
  db: Db,
  store: { merchantId: string; storeId: string; after: bigint },
  limit: number,
): Promise<{ number: bigint; event_id: string; type: RecordedEventType; body: string }[]> {
  const { rows } = await prepared<{
    number: bigint;
    event_id: string;
    type: RecordedEventType;
    body: string;
  }>`
    select number, event_id, type, body from event
    where merchant_id = ${store.merchantId} and store_id = ${store.storeId} and number > ${store.after}
    order by number limit ${limit}`.execute(db);
  return rows;
}

/** How `readStreamEnds` names a store: whoever names one of another merchant learns nothing of it. */
export const streamOf = ({ merchantId, storeId }: { merchantId: string; storeId: string }): string =>
  `${merchantId}/${storeId}`;

/** The last number of each of these stores, by `streamOf`; stores without one are left out. */
export async function readStreamEnds(
  db: Db,
  stores: readonly { merchantId: string; storeId: string }[],
): Promise<Map<string, bigint>> {
  const { rows } = await prepared<{ merchant_id: string; store_id: string; number: bigint }>`
    select s.merchant_id, s.store_id, s.number
    from ${listed('w', stores, { merchant_id: ['uuid', (s) => s.merchantId], store_id: ['uuid', (s) => s.storeId] })}
    join event_stream_end s on s.merchant_id = w.merchant_id and s.store_id = w.store_id`.execute(db);
  return new Map(
    rows.map((row) => [streamOf({ merchantId: row.merchant_id, storeId: row.store_id }), row.number]),
  );
}
