import type { StoreBrand } from '@florin/pages';
import type { PaymentDeps } from '../../payments/index.ts';
import { brandOf } from '../../stores/branding/index.ts';
import { getMerchant, getStore } from '../../stores/index.ts';
import type { MerchantMode } from '../../tenancy/settings/index.ts';
import { parseLinkToken } from './link-token.ts';
import { findLink, type LinkRow } from './queries.ts';

/** A link that was opened, with its owner. */
export interface OpenedLink {
  link: LinkRow;
  owner: { merchantId: string; storeId: string; mode: MerchantMode; clockOffset: number };
  storeName: string;
  brand: StoreBrand;
  /** Its payments have no value. */
  isTest: boolean;
  /** Whether it can be paid: the link is active, its store enabled, its merchant not suspended. */
  isPayable: boolean;
}

/** @returns undefined if no link has this token */
export async function openLink(
  { db, chains }: Pick<PaymentDeps, 'db' | 'chains'>,
  token: string,
): Promise<OpenedLink | undefined> {
  const ids = parseLinkToken(token);
  const link = ids && (await findLink(db, ids.merchantId, ids.linkId));
  if (link === undefined) return undefined;
  const { merchant_id: merchantId, store_id: storeId } = link;
  const merchant = await getMerchant(db, merchantId);
  const store = await getStore(db, merchantId, storeId);
  const isOpen = store.enabled && store.review_status === 'approved' && merchant.status === 'active';
  return {
    link,
    owner: { merchantId, storeId, mode: merchant.mode, clockOffset: merchant.clockOffset },
    storeName: store.name,
    brand: brandOf(store),
    isTest: chains.isTest(merchant),
    isPayable: link.active && isOpen,
  };
}
