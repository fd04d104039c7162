import type { RecordedEventType } from '@florin/contract/schemas';
import type { Db } from '../platform/db/index.ts';
import { cursorOf, readNewest } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { decodeId, encodeId } from '../tenancy/index.ts';
import { resourcesNamed } from './own-names.ts';
import { readStreamEnds } from './publish-events.ts';
import './tables.ts';

export interface EventFilter {
  limit: number;
  after?: string | undefined;
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

/** A store's events, newest first; one row more than the limit. */
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
  if (filter.resource !== undefined) query = query.where('resource', 'in', resourcesNamed(filter.resource));
  const after = await cursorOf(filter.after, (id) => getEvent(db, owner, id));
  return await readNewest(query, 'event_id', { after, limit: filter.limit });
}

/** Where a listener stands in the stream: behind an event, or before them all. */
export interface StreamPlace {
  /** As a client names it when it comes back. */
  id: string;
  /** Its number, or an event that has none yet. */
  at: bigint | { eventId: string };
}

/** Names the place before all events; where a store has none yet, it is also where "from now on" is. */
const START = 'start';

/**
 * The place behind an event, or that of now.
 *
 * @throws Fail `invalid_request` for what names no event of the store
 */
export async function placeInStream(
  db: Db,
  owner: { merchantId: string; storeId: string },
  after: { name: string | undefined; param: string },
): Promise<StreamPlace> {
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

async function endOfStream(db: Db, owner: { merchantId: string; storeId: string }): Promise<StreamPlace> {
  const number = (await readStreamEnds(db, [owner])).get(owner.storeId) ?? 0n;
  const last = await db
    .selectFrom('event')
    .select('event_id')
    .where('merchant_id', '=', owner.merchantId)
    .where('store_id', '=', owner.storeId)
    .where('number', '=', number)
    .executeTakeFirst();
  // Too old to be kept: all that is kept comes after it.
  return { id: last === undefined ? START : encodeId('event', last.event_id), at: number };
}

/** An event's number in its store, once it has one. */
export async function findNumber(db: Db, merchantId: string, eventId: string): Promise<bigint | undefined> {
  return (await selectEvent(db, merchantId, eventId).executeTakeFirst())?.number ?? undefined;
}
