import { newId } from '../platform/db/ids/index.ts';
import type { Platform } from '../platform/platform.ts';
import { checkName } from './create-merchant.ts';
import { getMerchant, getStore } from './queries.ts';

export interface StoreInput {
  merchantId: string;
  name: string;
  channelType: 'api' | 'hosted';
}

/** Creates a store, which waits for review and is not enabled: no key can be made for it yet. @returns its id */
export async function createStore(platform: Platform, input: StoreInput): Promise<string> {
  const merchant = await getMerchant(platform.db, input.merchantId);
  const storeId = newId();
  await platform.db
    .insertInto('store')
    .values({
      merchant_id: merchant.merchantId,
      store_id: storeId,
      name: checkName(input.name, 'name'),
      channel_type: input.channelType,
      created_at: platform.clock.nowSeconds() + merchant.clockOffset,
    })
    .execute();
  return storeId;
}

export interface StoreChange {
  reviewStatus?: 'approved' | 'rejected';
  enabled?: boolean;
}

/** Changes a store. Every node applies it at once, as each request reads its store's row. */
export async function changeStore(
  platform: Platform,
  store: { merchantId: string; storeId: string },
  change: StoreChange,
): Promise<void> {
  await getStore(platform.db, store.merchantId, store.storeId);
  await platform.db
    .updateTable('store')
    .set({
      ...(change.reviewStatus === undefined ? {} : { review_status: change.reviewStatus }),
      ...(change.enabled === undefined ? {} : { enabled: change.enabled }),
    })
    .where('merchant_id', '=', store.merchantId)
    .where('store_id', '=', store.storeId)
    .execute();
}

export async function listStores({ db }: Pick<Platform, 'db'>, merchantId: string | undefined) {
  const stores = db.selectFrom('store').selectAll().orderBy('created_at').orderBy('store_id');
  return await (merchantId === undefined ? stores : stores.where('merchant_id', '=', merchantId)).execute();
}
