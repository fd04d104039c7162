import { randomBytes, timingSafeEqual } from 'node:crypto';
import { decodeIdToken, encodeIdToken } from '../platform/db/index.ts';

const SECRET_BYTES = 16;

/** The secret part of a page's address: whoever knows a session's id cannot open its page. */
export function newPageSecret(): string {
  return randomBytes(SECRET_BYTES).toString('hex');
}

/** What stands in a page's address: merchant, session and secret in one word, so that one look-up finds it. */
export function pageToken(session: { merchant_id: string; session_id: string; page_token: string }): string {
  const { merchant_id, session_id, page_token } = session;
  return encodeIdToken([merchant_id, session_id], Buffer.from(page_token, 'hex'));
}

export interface ParsedPageToken {
  merchantId: string;
  sessionId: string;
  secret: Buffer;
}

/** Undefined for what is no token; whether its secret is right is another question. */
export function parsePageToken(text: string): ParsedPageToken | undefined {
  const found = decodeIdToken(text, { ids: 2, secretBytes: SECRET_BYTES });
  const [merchantId, sessionId] = found?.ids ?? [];
  if (found === undefined || merchantId === undefined || sessionId === undefined) return undefined;
  return { merchantId, sessionId, secret: found.secret };
}

/** Whether the secret of a token is that of the session, in a time that tells nothing of where they differ. */
export function isPageSecret({ secret }: ParsedPageToken, pageToken: string): boolean {
  const known = Buffer.from(pageToken, 'hex');
  return known.length === secret.length && timingSafeEqual(known, secret);
}
