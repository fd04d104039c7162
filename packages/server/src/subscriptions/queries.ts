import type { SubscriptionStatus } from '@florin/contract/schemas';
import { type Selectable, sql } from 'kysely';
import type { Db, Tables } from '../platform/db/index.ts';
import { decodeId, type Owner, ofStore } from '../tenancy/index.ts';
import './tables.ts';

export type SubscriptionRow = Selectable<Tables['subscription']>;

const selectSubscriptions = (db: Db, merchantId: string) =>
  db.selectFrom('subscription').selectAll().where('merchant_id', '=', merchantId);

/** Finds a subscription by its UUID. */
export async function findSubscription(
  db: Db,
  merchantId: string,
  subscriptionId: string,
): Promise<SubscriptionRow | undefined> {
  return await selectSubscriptions(db, merchantId)
    .where('subscription_id', '=', subscriptionId)
    .executeTakeFirst();
}

/** @throws Fail `resource_not_found`; `forbidden` for a subscription of another store of the merchant */
export async function getSubscription(db: Db, owner: Owner, id: string): Promise<SubscriptionRow> {
  const subscriptionId = decodeId('subscription', id);
  const row =
    subscriptionId === undefined ? undefined : await findSubscription(db, owner.merchantId, subscriptionId);
  return ofStore(row, owner, 'subscription');
}

export interface SubscriptionFilter {
  /** The merchant's own id of the customer. */
  customer?: string | undefined;
  status?: SubscriptionStatus | undefined;
  limit: number;
  /** For exports: the API's list has no cursor. */
  after?: Pick<SubscriptionRow, 'created_at' | 'subscription_id'> | undefined;
}

/** The statement of the list: newest first, by an index for each combination of filters. */
export function subscriptionPage(
  db: Db,
  owner: Owner,
  { customer, status, limit, after }: SubscriptionFilter,
) {
  let query = selectSubscriptions(db, owner.merchantId).where('store_id', '=', owner.storeId);
  if (customer !== undefined) query = query.where('customer', '=', customer);
  if (status !== undefined) query = query.where('status', '=', status);
  if (after !== undefined)
    query = query.where(
      sql<boolean>`(created_at, subscription_id) < (${after.created_at}, ${after.subscription_id})`,
    );
  return query.orderBy('created_at', 'desc').orderBy('subscription_id', 'desc').limit(limit);
}
