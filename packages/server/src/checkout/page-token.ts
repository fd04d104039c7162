import { randomBytes, timingSafeEqual } from 'node:crypto';
import { decodeIdToken, encodeIdToken } from '../platform/db/ids/index.ts';

const SECRET_BYTES = 16;

/** The secret part of a page's URL: a session's id alone does not open its page. */
export function newPageSecret(): string {
  return randomBytes(SECRET_BYTES).toString('hex');
}

/** The token in a page's URL: merchant, session and secret, so that one primary-key lookup finds the session. */
export function pageToken(session: { merchant_id: string; session_id: string; page_token: string }): string {
  const { merchant_id, session_id, page_token } = session;
  return encodeIdToken([merchant_id, session_id], Buffer.from(page_token, 'hex'));
}

export interface ParsedPageToken {
  merchantId: string;
  sessionId: string;
  secret: Buffer;
}

/** Parses a token without checking its secret. @returns undefined if the text is no token */
export function parsePageToken(text: string): ParsedPageToken | undefined {
  const found = decodeIdToken(text, { ids: 2, secretBytes: SECRET_BYTES });
  const [merchantId, sessionId] = found?.ids ?? [];
  if (found === undefined || merchantId === undefined || sessionId === undefined) return undefined;
  return { merchantId, sessionId, secret: found.secret };
}

/** Compares the secret of a token with the session's in constant time. */
export function isPageSecret({ secret }: ParsedPageToken, pageToken: string): boolean {
  const known = Buffer.from(pageToken, 'hex');
  return known.length === secret.length && timingSafeEqual(known, secret);
}
