import type { RecordedEventType } from '@florin/contract/schemas';
import type { Db } from '../platform/db/index.ts';
import { cursorOf, type Page, readByCreation } from '../platform/db/lists/index.ts';
import { Fail } from '../platform/fail.ts';
import { decodeId, encodeId } from '../tenancy/index.ts';
import { readStreamEnds, streamOf } from './publish-events.ts';
import { resourcesWithId } from './resource-keys.ts';
import './tables.ts';

export interface EventFilter extends Page<string> {
  type?: RecordedEventType | undefined;
  resource?: string | undefined;
}

const selectEvent = (db: Db, merchantId: string, eventId: string) =>
  db.selectFrom('event').selectAll().where('merchant_id', '=', merchantId).where('event_id', '=', eventId);

/** @throws Fail `resource_not_found`; `forbidden` for an event of the merchant's other store */
export async function getEvent(
  db: Db,
  owner: { merchantId: string; storeId: string },
  eventId: string | undefined,
) {
  const event = eventId && (await selectEvent(db, owner.merchantId, eventId).executeTakeFirst());
  if (!event) throw new Fail('resource_not_found', 'There is no such event.');
  if (event.store_id !== owner.storeId) throw new Fail('forbidden', 'This event belongs to another store.');
  return event;
}

/** A store's events; one row more than the limit. */
export async function listEvents(
  db: Db,
  owner: { merchantId: string; storeId: string },
  filter: EventFilter,
) {
  let query = db
    .selectFrom('event')
    .selectAll()
    .where('merchant_id', '=', owner.merchantId)
    .where('store_id', '=', owner.storeId);
  if (filter.type !== undefined) query = query.where('type', '=', filter.type);
  if (filter.resource !== undefined) query = query.where('resource', 'in', resourcesWithId(filter.resource));
  const after = await cursorOf(filter.after, (id) => getEvent(db, owner, id));
  return await readByCreation(query, 'event_id', { ...filter, after });
}

/** A position in the stream: after an event, or before all. */
export interface StreamPosition {
  /** The `Last-Event-ID` with which a client returns to it. */
  id: string;
  /** The number of the event, or its id while it has none. */
  at: bigint | { eventId: string };
}

/** The position before all events; in a store without events also the end of the stream. */
const START = 'start';

/**
 * The position after an event, or the end of the stream.
 *
 * @throws Fail `invalid_request` for an id that is no event of the store
 */
export async function readStreamPosition(
  db: Db,
  owner: { merchantId: string; storeId: string },
  after: { name: string | undefined; param: string },
): Promise<StreamPosition> {
  if (after.name === START) return { id: START, at: 0n };
  if (after.name === undefined) return await endOfStream(db, owner);
  const eventId = decodeId('event', after.name);
  const event = eventId && (await selectEvent(db, owner.merchantId, eventId).executeTakeFirst());
  if (!event || event.store_id !== owner.storeId) {
    const message = `${after.param} must be the id of an event of this store, or ${START}.`;
    throw new Fail('invalid_request', { message, param: after.param });
  }
  return { id: after.name, at: event.number ?? { eventId: event.event_id } };
}

async function endOfStream(db: Db, owner: { merchantId: string; storeId: string }): Promise<StreamPosition> {
  const number = (await readStreamEnds(db, [owner])).get(streamOf(owner)) ?? 0n;
  const last = await db
    .selectFrom('event')
    .select('event_id')
    .where('merchant_id', '=', owner.merchantId)
    .where('store_id', '=', owner.storeId)
    .where('number', '=', number)
    .executeTakeFirst();
  // Without a row the last event was deleted: all stored events come after it.
  return { id: last === undefined ? START : encodeId('event', last.event_id), at: number };
}

/** An event's number in its store, once it has one. */
export async function findNumber(db: Db, merchantId: string, eventId: string): Promise<bigint | undefined> {
  return (await selectEvent(db, merchantId, eventId).executeTakeFirst())?.number ?? undefined;
}
