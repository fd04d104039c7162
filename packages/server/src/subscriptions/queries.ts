import type { SubscriptionStatus } from '@florin/contract/schemas';
import type { Selectable } from 'kysely';
import type { Db, Tables } from '../platform/db/index.ts';
import { decodeId, type Owner, ofStore } from '../tenancy/index.ts';
import './tables.ts';

export type SubscriptionRow = Selectable<Tables['subscription']>;

const selectSubscriptions = (db: Db, merchantId: string) =>
  db.selectFrom('subscription').selectAll().where('merchant_id', '=', merchantId);

/** @throws Fail `resource_not_found`; `forbidden` for a subscription of another store of the merchant */
export async function getSubscription(db: Db, owner: Owner, id: string): Promise<SubscriptionRow> {
  const subscriptionId = decodeId('subscription', id);
  const row =
    subscriptionId === undefined
      ? undefined
      : await selectSubscriptions(db, owner.merchantId)
          .where('subscription_id', '=', subscriptionId)
          .executeTakeFirst();
  return ofStore(row, owner, 'subscription');
}

export interface SubscriptionFilter {
  /** The merchant's own id of the customer. */
  customer?: string | undefined;
  status?: SubscriptionStatus | undefined;
  limit: number;
}

/** The statement of the list: newest first, by an index for each combination of filters. */
export function subscriptionPage(db: Db, owner: Owner, { customer, status, limit }: SubscriptionFilter) {
  let query = selectSubscriptions(db, owner.merchantId).where('store_id', '=', owner.storeId);
  if (customer !== undefined) query = query.where('customer', '=', customer);
  if (status !== undefined) query = query.where('status', '=', status);
  return query.orderBy('created_at', 'desc').orderBy('subscription_id', 'desc').limit(limit);
}
