import { sql } from 'kysely';
import type { Db } from '../platform/db/index.ts';
import type { Owner } from './endpoint-queries.ts';
import type { DeliveryStatus, StoredAttempt } from './tables.ts';

/** A delivery with the URL of its endpoint. */
export interface InboxDelivery {
  event_id: string;
  delivery_id: string;
  url: string;
  status: DeliveryStatus;
  due_at: bigint;
  attempts: StoredAttempt[];
}

/** The newest `limitEach` deliveries of each event. */
export async function listDeliveriesOf(
  db: Db,
  { merchantId, storeId }: Owner,
  eventIds: readonly string[],
  limitEach: number,
): Promise<InboxDelivery[]> {
  const { rows } = await sql<InboxDelivery>`
    select d.event_id, d.delivery_id, e.url, d.status, d.due_at, d.attempts
    from unnest(${eventIds}::uuid[]) as requested (event_id)
    cross join lateral (
      select event_id, endpoint_id, delivery_id, status, due_at, attempts from delivery
      where merchant_id = ${merchantId} and store_id = ${storeId} and event_id = requested.event_id
      order by delivery_id desc limit ${limitEach}
    ) d
    join webhook_endpoint e on e.merchant_id = ${merchantId} and e.endpoint_id = d.endpoint_id
    order by d.delivery_id desc`.execute(db);
  return rows;
}
