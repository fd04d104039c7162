import { randomBytes } from 'node:crypto';
import { base58 } from '@scure/base';

const SECRET_BYTES = 16;

const bytesOf = (uuid: string) => Buffer.from(uuid.replaceAll('-', ''), 'hex');
/** The secret part of a page's address: whoever knows a session's id cannot open its page. */
export function newPageSecret(): string {
  return randomBytes(SECRET_BYTES).toString('hex');
}

/** What stands in a page's address: merchant, session and secret in one word, so that one look-up finds it. */
export function pageToken(session: { merchant_id: string; session_id: string; page_token: string }): string {
  const { merchant_id, session_id, page_token } = session;
  return base58.encode(
    Buffer.concat([bytesOf(merchant_id), bytesOf(session_id), Buffer.from(page_token, 'hex')]),
  );
}
