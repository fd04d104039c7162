import { decodeIdToken, encodeIdToken } from '../../platform/db/ids/index.ts';

/**
 * The token in a link's URL: merchant and link id, so that one primary-key lookup finds the row. It has no secret, since it
 * only opens a form to pay the store; this keeps the QR code small and easy to scan.
 */
export function linkToken(link: { merchant_id: string; link_id: string }): string {
  return encodeIdToken([link.merchant_id, link.link_id]);
}

/** @returns undefined if the text is no token */
export function parseLinkToken(text: string): { merchantId: string; linkId: string } | undefined {
  const [merchantId, linkId] = decodeIdToken(text, { ids: 2 })?.ids ?? [];
  return merchantId === undefined || linkId === undefined ? undefined : { merchantId, linkId };
}
