import type { RecordedEventType } from '@florin/contract/schemas';
import { sql } from 'kysely';
import type { Db, Tx } from '../platform/db/index.ts';
import { cursorOf, inOrder, type Page } from '../platform/db/lists/index.ts';
import { Fail, invariant } from '../platform/fail.ts';
import { decodeId } from '../tenancy/index.ts';
import type { EndpointRow, Owner } from './endpoint-queries.ts';
import { DELIVERY_MOVES } from './states.ts';
import type { DeliveryStatus } from './tables.ts';
import './tables.ts';

export type DeliveryRow = NonNullable<Awaited<ReturnType<typeof findDelivery>>>;

async function findDelivery(db: Db, owner: Owner, deliveryId: string) {
  return await db
    .selectFrom('delivery')
    .selectAll()
    .where('merchant_id', '=', owner.merchantId)
    .where('store_id', '=', owner.storeId)
    .where('delivery_id', '=', deliveryId)
    .executeTakeFirst();
}

/** @throws Fail `resource_not_found`; `forbidden` for a delivery of the merchant's other store */
export async function getDelivery(db: Db, owner: Owner, text: string): Promise<DeliveryRow> {
  const deliveryId = decodeId('delivery', text);
  const own = deliveryId && (await findDelivery(db, owner, deliveryId));
  if (own) return own;
  // The index is by store, so other stores are searched only to tell 403 from 404.
  const stores = deliveryId === undefined ? [] : await storesWithEndpoints(db, owner.merchantId);
  for (const storeId of stores) {
    if (deliveryId !== undefined && (await findDelivery(db, { ...owner, storeId }, deliveryId)))
      throw new Fail('forbidden', 'This delivery belongs to another store.');
  }
  throw new Fail('resource_not_found', 'There is no such delivery.');
}

async function storesWithEndpoints(db: Db, merchantId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('webhook_endpoint')
    .select('store_id')
    .distinct()
    .where('merchant_id', '=', merchantId)
    .execute();
  return rows.map((row) => row.store_id);
}

/** Locks a delivery (`for update`). */
export async function lockDelivery(
  tx: Tx,
  delivery: { merchant_id: string; event_id: string; endpoint_id: string },
): Promise<DeliveryRow> {
  return await tx
    .selectFrom('delivery')
    .selectAll()
    .where('merchant_id', '=', delivery.merchant_id)
    .where('event_id', '=', delivery.event_id)
    .where('endpoint_id', '=', delivery.endpoint_id)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

export interface DeliveryFilter extends Page<string> {
  eventId?: string | undefined;
  endpointId?: string | undefined;
  status?: DeliveryStatus | undefined;
}

/** A store's deliveries; one row more than the limit. */
export async function listDeliveries(db: Db, owner: Owner, filter: DeliveryFilter): Promise<DeliveryRow[]> {
  let query = db
    .selectFrom('delivery')
    .selectAll()
    .where('merchant_id', '=', owner.merchantId)
    .where('store_id', '=', owner.storeId);
  if (filter.eventId !== undefined) query = query.where('event_id', '=', filter.eventId);
  if (filter.endpointId !== undefined) query = query.where('endpoint_id', '=', filter.endpointId);
  if (filter.status !== undefined) query = query.where('status', '=', filter.status);
  const cursor = await cursorOf(filter.after, (id) => findDelivery(db, owner, id));
  return await inOrder(query, ['delivery_id'], { ...filter, after: cursor }).execute();
}

/** A page of an endpoint's deliveries in order of their event ids. */
interface DeliveryPage {
  /** The event id that the page comes after. */
  after: string;
  /** Only events created at this time or later, merchant's clock. */
  since?: number;
  limit: number;
}

type EndpointKey = Pick<EndpointRow, 'merchant_id' | 'endpoint_id'>;

/** Locks paused or ended deliveries, oldest events first. @returns the ids of their events */
export async function lockStopped(
  tx: Tx,
  endpoint: EndpointKey,
  status: 'paused' | 'failed' | 'exhausted',
  { after, since, limit }: DeliveryPage,
): Promise<string[]> {
  let query = tx
    .selectFrom('delivery')
    .select('event_id')
    .where('merchant_id', '=', endpoint.merchant_id)
    .where('endpoint_id', '=', endpoint.endpoint_id)
    .where('status', '=', status)
    .where('event_id', '>', after);
  if (since !== undefined) query = query.where('event_created_at', '>=', since);
  const rows = await query.orderBy('event_id').limit(limit).forUpdate().execute();
  return rows.map((row) => row.event_id);
}

/** Locks pending deliveries: first tries, else retries. @returns the ids of their events */
export async function lockPending(tx: Tx, endpoint: EndpointKey, limit: number): Promise<string[]> {
  const pending = tx
    .selectFrom('delivery')
    .select('event_id')
    .where('merchant_id', '=', endpoint.merchant_id)
    .where('endpoint_id', '=', endpoint.endpoint_id)
    .where('status', '=', 'pending')
    .limit(limit)
    .forUpdate();
  const firstTries = await pending.where('series_attempts', '=', 0).orderBy('number').execute();
  const retries = await pending.where('series_attempts', '>', 0).orderBy('due_at').execute();
  return [...firstTries, ...retries].slice(0, limit).map((row) => row.event_id);
}

interface DeliveryMove {
  status: 'pending' | 'paused';
  /** The merchant's clock; due times stay where it is omitted. */
  dueAt?: number;
  /** Starts a new series of attempts. */
  newSeries?: boolean;
}

/** Writes the status of deliveries of one endpoint; the caller has locked them. */
export async function moveDeliveries(
  tx: Tx,
  endpoint: EndpointKey,
  eventIds: readonly string[],
  { status, dueAt, newSeries }: DeliveryMove,
): Promise<void> {
  const sorted = [...eventIds].sort();
  const [first, last] = [sorted[0], sorted.at(-1)];
  if (first === undefined || last === undefined) return;
  const { numUpdatedRows } = await tx
    .updateTable('delivery')
    .set({
      status,
      ...(dueAt === undefined ? {} : { due_at: dueAt }),
      ...(newSeries === true ? { series_attempts: 0 } : {}),
    })
    .where('merchant_id', '=', endpoint.merchant_id)
    .where('endpoint_id', '=', endpoint.endpoint_id)
    .where(sql<boolean>`event_id = any(${sorted}::uuid[])`)
    // The bounds prune partitions: without them every day's table is read.
    .where('event_id', '>=', first)
    .where('event_id', '<=', last)
    .where('status', 'in', DELIVERY_MOVES.into(status))
    .executeTakeFirstOrThrow();
  invariant(numUpdatedRows === BigInt(sorted.length), `every one of the deliveries may become ${status}`);
}

/** An event of the store and whether it has a delivery to the endpoint. */
export interface EventWithDelivery {
  event_id: string;
  type: RecordedEventType;
  /** Null: not published yet. */
  number: bigint | null;
  created_at: bigint;
  has_delivery: boolean;
}

/**
 * The next `limit` events of the endpoint's store in order of creation. They are not filtered by type, so that a long run
 * of other types costs no more than any other page.
 */
export async function listEventsWithDelivery(
  db: Db,
  endpoint: EndpointRow,
  after: { created: number; eventId: string },
  limit: number,
): Promise<EventWithDelivery[]> {
  const { rows } = await sql<EventWithDelivery>`
    select v.event_id, v.type, v.number, v.created_at,
           exists (select from delivery d where d.merchant_id = ${endpoint.merchant_id}
                     and d.event_id = v.event_id and d.endpoint_id = ${endpoint.endpoint_id}) as has_delivery
    from event v
    where v.merchant_id = ${endpoint.merchant_id} and v.store_id = ${endpoint.store_id}
      and (v.created_at, v.event_id) > (${after.created}, ${after.eventId}::uuid)
    order by v.created_at, v.event_id limit ${limit}`.execute(db);
  return rows;
}
