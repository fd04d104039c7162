import type { SubscriptionStatus } from '@florin/contract/schemas';
import type { Selectable } from 'kysely';
import type { Db, Tables } from '../platform/db/index.ts';
import { byCreation, type CreatedRange, madeWithin, type Page } from '../platform/db/lists/index.ts';
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
  created?: CreatedRange | undefined;
}

/** `after` is for exports alone: the API's list has no cursor. */
type SubscriptionPage = SubscriptionFilter & Page<Pick<SubscriptionRow, 'created_at' | 'subscription_id'>>;

/** The statement of the list, by an index for each combination of filters: up to the limit, as nothing says that more follow. */
export function subscriptionPage(
  db: Db,
  owner: Owner,
  { customer, status, created = {}, ...page }: SubscriptionPage,
) {
  let query = selectSubscriptions(db, owner.merchantId).where('store_id', '=', owner.storeId);
  if (customer !== undefined) query = query.where('customer', '=', customer);
  if (status !== undefined) query = query.where('status', '=', status);
  return byCreation(madeWithin(query, created), 'subscription_id', { ...page, limit: page.limit - 1 });
}
