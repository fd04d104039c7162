import { decodeIdToken, encodeIdToken } from '../../platform/db/index.ts';

/**
 * What stands in a link's address: merchant and link in one word, so that one look-up finds it. It holds no secret, as
 * all that it opens is a form to pay the store; without one the QR code on a counter is coarser and easier to scan.
 */
export function linkToken(link: { merchant_id: string; link_id: string }): string {
  return encodeIdToken([link.merchant_id, link.link_id]);
}

/** Undefined for what is no token. */
export function parseLinkToken(text: string): { merchantId: string; linkId: string } | undefined {
  const [merchantId, linkId] = decodeIdToken(text, { ids: 2 })?.ids ?? [];
  return merchantId === undefined || linkId === undefined ? undefined : { merchantId, linkId };
}
