import { timingSafeEqual } from 'node:crypto';
import { decodeIdToken, encodeIdToken } from '../platform/db/ids/index.ts';
import type { SubscriptionRow } from './queries.ts';

/** Path of the subscriptions' pages for payers. */
export const SUBSCRIBE_PATH = '/subscribe';

const SECRET_BYTES = 16;

type TokenOwner = Pick<SubscriptionRow, 'merchant_id' | 'subscription_id' | 'page_token'>;

/** The token in the address of the page for the first payment. It encodes merchant, subscription and secret. */
export function subscribeToken(row: TokenOwner): string {
  return encodeIdToken([row.merchant_id, row.subscription_id], Buffer.from(row.page_token, 'hex'));
}

export function subscribeUrl(row: TokenOwner, publicUrl: string): string {
  return `${publicUrl}${SUBSCRIBE_PATH}/${subscribeToken(row)}`;
}

export interface ParsedSubscribeToken {
  merchantId: string;
  subscriptionId: string;
  secret: Buffer;
}

/** Undefined if the text is not a token. `isSubscribeSecret` checks its secret. */
export function parseSubscribeToken(text: string): ParsedSubscribeToken | undefined {
  const found = decodeIdToken(text, { ids: 2, secretBytes: SECRET_BYTES });
  const [merchantId, subscriptionId] = found?.ids ?? [];
  if (found === undefined || merchantId === undefined || subscriptionId === undefined) return undefined;
  return { merchantId, subscriptionId, secret: found.secret };
}

/** Compares the secret of a token with the subscription's, in constant time. */
export function isSubscribeSecret({ secret }: ParsedSubscribeToken, pageToken: string): boolean {
  const known = Buffer.from(pageToken, 'hex');
  return known.length === secret.length && timingSafeEqual(known, secret);
}
