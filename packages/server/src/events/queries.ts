import type { RecordedEventType } from '@florin/contract/schemas';
import type { Db } from '../platform/db.ts';
import { Fail } from '../platform/fail.ts';
import { unknownCursor } from '../platform/page.ts';
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
  if (filter.resource !== undefined) query = query.where('resource', '=', filter.resource);
  if (filter.after !== undefined) {
    const cursor = await selectEvent(db, owner.merchantId, filter.after).executeTakeFirst();
    if (cursor?.store_id !== owner.storeId) throw unknownCursor();
    query = query.where((e) =>
      e(e.refTuple('created_at', 'event_id'), '<', e.tuple(cursor.created_at, cursor.event_id)),
    );
  }
  return await query
    .orderBy('created_at', 'desc')
    .orderBy('event_id', 'desc')
    .limit(filter.limit + 1)
    .execute();
}
