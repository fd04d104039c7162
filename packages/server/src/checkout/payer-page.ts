import type { Db } from '../platform/db/index.ts';
import { findSessionOfPage } from './page/queries.ts';
import { pageToken } from './page-token.ts';

/** What a payer's mail says of the page that was paid on. */
export interface PayerPage {
  /** Path of the page on this service. */
  path: string;
  description: string | null;
  orderId: string | null;
}

/** The page of a payment; undefined for one without, such as a charge. */
export async function findPayerPage(
  db: Db,
  { merchant_id: merchantId, session_id: sessionId }: { merchant_id: string; session_id: string | null },
): Promise<PayerPage | undefined> {
  const session = sessionId === null ? undefined : await findSessionOfPage(db, { merchantId, sessionId });
  return (
    session && {
      path: `/checkout/${pageToken(session)}`,
      description: session.description,
      orderId: session.order_id,
    }
  );
}
