import type { StoreBrand } from '@florin/pages';
import type { Db } from '../../platform/db/index.ts';
import { brandOf } from '../../stores/branding/index.ts';
import type { MerchantMode } from '../../tenancy/settings/index.ts';
import type { SubscriptionRow } from '../queries.ts';
import '../tables.ts';

/** The owner of a page: the store's public details, and the ids for operations. */
export interface PageOwner {
  merchant: { merchantId: string; mode: MerchantMode; clockOffset: number; isSuspended: boolean };
  storeId: string;
  storeName: string;
  brand: StoreBrand;
}

export async function findPageOwner(
  db: Db,
  { merchantId, storeId }: { merchantId: string; storeId: string },
): Promise<PageOwner | undefined> {
  const row = await db
    .selectFrom('merchant as m')
    .innerJoin('store as s', 's.merchant_id', 'm.merchant_id')
    .select(['m.mode', 'm.clock_offset', 'm.status', 's.name'])
    .select([
      's.merchant_id',
      's.store_id',
      's.accent',
      's.support',
      's.terms_url',
      's.logo_id',
      's.logo_width',
      's.logo_height',
    ])
    .where('m.merchant_id', '=', merchantId)
    .where('s.store_id', '=', storeId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { mode, clock_offset, status } = row;
  const isSuspended = status === 'suspended';
  const merchant = { merchantId, mode, clockOffset: Number(clock_offset), isSuspended };
  return { merchant, storeId, storeName: row.name, brand: brandOf(row) };
}

export async function findSubscriptionRow(
  db: Db,
  { merchantId, subscriptionId }: { merchantId: string; subscriptionId: string },
): Promise<SubscriptionRow | undefined> {
  return await db
    .selectFrom('subscription')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('subscription_id', '=', subscriptionId)
    .executeTakeFirst();
}
