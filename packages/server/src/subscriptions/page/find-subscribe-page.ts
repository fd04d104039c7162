import type { Db } from '../../platform/db/index.ts';
import { isSubscribeSecret, parseSubscribeToken } from '../page-token.ts';
import type { SubscriptionRow } from '../queries.ts';
import { findPageOwner, findSubscriptionRow, type PageOwner } from './queries.ts';

/** A subscription whose page was requested with a valid token. */
export interface SubscribePage extends PageOwner {
  token: string;
  subscription: SubscriptionRow;
}

/** Undefined for every invalid token, for any reason. */
export async function findSubscribePage(db: Db, token: string): Promise<SubscribePage | undefined> {
  const parsed = parseSubscribeToken(token);
  if (parsed === undefined) return undefined;
  const subscription = await findSubscriptionRow(db, parsed);
  if (subscription === undefined || !isSubscribeSecret(parsed, subscription.page_token)) return undefined;
  const owner = await findPageOwner(db, { merchantId: parsed.merchantId, storeId: subscription.store_id });
  return owner && { ...owner, token, subscription };
}
