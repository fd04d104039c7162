import type { Db } from '../../platform/db/index.ts';
import type { MerchantMode } from '../../tenancy/settings/index.ts';
import { isPageSecret, parsePageToken } from '../page-token.ts';
import { findSessionOfPage, type PageSession } from './queries.ts';

/** A session that was opened with a valid token. */
export interface FoundPage {
  token: string;
  merchant: { merchantId: string; mode: MerchantMode; clockOffset: number; isSuspended: boolean };
  session: PageSession;
}

/** @returns undefined for every invalid token, without a reason */
export async function findPage(db: Db, token: string): Promise<FoundPage | undefined> {
  const parsed = parsePageToken(token);
  if (parsed === undefined) return undefined;
  const session = await findSessionOfPage(db, parsed);
  if (session === undefined || !isPageSecret(parsed, session.page_token)) return undefined;
  const { merchant_id: merchantId, mode, clock_offset, merchant_status } = session;
  const isSuspended = merchant_status === 'suspended';
  return { token, merchant: { merchantId, mode, clockOffset: Number(clock_offset), isSuspended }, session };
}
