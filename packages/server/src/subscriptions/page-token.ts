import { encodeIdToken } from '../platform/id-token.ts';
import type { SubscriptionRow } from './queries.ts';

/** Where payers find the pages of subscriptions. */
const SUBSCRIBE_PATH = '/subscribe';

/** The address of the page for the first payment: merchant, subscription and secret in one word. */
export function subscribeUrl(row: SubscriptionRow, publicUrl: string): string {
  const token = encodeIdToken([row.merchant_id, row.subscription_id], Buffer.from(row.page_token, 'hex'));
  return `${publicUrl}${SUBSCRIBE_PATH}/${token}`;
}
