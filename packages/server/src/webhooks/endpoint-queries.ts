import type { Updateable } from 'kysely';
import type { Db, Tables, Tx } from '../platform/db/index.ts';
import { cursorOf, type Page, readByCreation } from '../platform/db/lists/index.ts';
import { Fail } from '../platform/fail.ts';
import { decodeId } from '../tenancy/index.ts';
import { ENDPOINT_MOVES } from './states.ts';
import './tables.ts';

/** The store whose endpoints are read; a store sees its own only. */
export interface Owner {
  merchantId: string;
  storeId: string;
}

const selectEndpoint = (db: Db, merchantId: string, endpointId: string) =>
  db
    .selectFrom('webhook_endpoint')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('endpoint_id', '=', endpointId);

export type EndpointRow = Awaited<ReturnType<typeof getEndpoint>>;

/**
 * Reads an endpoint by its public id.
 *
 * @param lock the row lock to take: `for share` or `for update`
 * @throws Fail `resource_not_found`; `forbidden` for an endpoint of the merchant's other store
 */
export async function getEndpoint(db: Db, owner: Owner, text: string, lock?: 'share' | 'update') {
  const endpointId = decodeId('webhookEndpoint', text);
  if (endpointId === undefined) throw endpointNotFound();
  let query = selectEndpoint(db, owner.merchantId, endpointId);
  if (lock !== undefined) query = lock === 'share' ? query.forShare() : query.forUpdate();
  const endpoint = await query.executeTakeFirst();
  if (endpoint === undefined) throw endpointNotFound();
  if (endpoint.store_id !== owner.storeId)
    throw new Fail('forbidden', 'This webhook endpoint belongs to another store.');
  return endpoint;
}

const endpointNotFound = () => new Fail('resource_not_found', 'There is no such webhook endpoint.');

/** A store's endpoints; one row more than the limit. */
export async function listEndpoints(db: Db, owner: Owner, page: Page<string>) {
  const query = db
    .selectFrom('webhook_endpoint')
    .selectAll()
    .where('merchant_id', '=', owner.merchantId)
    .where('store_id', '=', owner.storeId);
  const after = await cursorOf(page.after, (id) =>
    selectEndpoint(db, owner.merchantId, id).where('store_id', '=', owner.storeId).executeTakeFirst(),
  );
  return await readByCreation(query, 'endpoint_id', { ...page, after });
}

export async function countEndpoints(tx: Tx, owner: Owner): Promise<number> {
  const { count } = await tx
    .selectFrom('webhook_endpoint')
    .select((e) => e.fn.countAll<bigint>().as('count'))
    .where('merchant_id', '=', owner.merchantId)
    .where('store_id', '=', owner.storeId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function insertEndpoint(
  tx: Tx,
  owner: Owner,
  endpoint: { endpointId: string; url: string; types: EndpointRow['types']; nowSeconds: number },
): Promise<EndpointRow> {
  return await tx
    .insertInto('webhook_endpoint')
    .values({
      merchant_id: owner.merchantId,
      endpoint_id: endpoint.endpointId,
      store_id: owner.storeId,
      url: endpoint.url,
      types: endpoint.types,
      created_at: endpoint.nowSeconds,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function updateEndpoint(
  tx: Tx,
  endpoint: EndpointRow,
  change: Updateable<Tables['webhook_endpoint']>,
): Promise<EndpointRow> {
  if (change.status !== undefined) ENDPOINT_MOVES.check(endpoint.status, change.status);
  return await tx
    .updateTable('webhook_endpoint')
    .set(change)
    .where('merchant_id', '=', endpoint.merchant_id)
    .where('endpoint_id', '=', endpoint.endpoint_id)
    .returningAll()
    .executeTakeFirstOrThrow();
}
