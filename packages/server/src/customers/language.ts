import type { Db } from '../platform/db/index.ts';
import { prepared } from '../platform/db/statements/index.ts';
import './tables.ts';

interface Reader {
  merchantId: string;
  customerId: string;
}

/**
 * Remembers in which language a customer reads. One that the page was asked for replaces the one before; that of a
 * browser is kept only if there is none, because programs that look at links in mails send one of their own.
 */
export async function rememberLanguage(
  db: Db,
  { merchantId, customerId }: Reader,
  { language, isChosen }: { language: string; isChosen: boolean },
): Promise<void> {
  await prepared`
    update customer set payer_language = ${language}
    where merchant_id = ${merchantId} and customer_id = ${customerId}
      and (payer_language is null or (${isChosen}::boolean and payer_language <> ${language}))`.execute(db);
}

/** Null if the customer has read no page yet. */
export async function customerLanguage(db: Db, { merchantId, customerId }: Reader): Promise<string | null> {
  const { rows } = await prepared<{ payer_language: string | null }>`
    select payer_language from customer
    where merchant_id = ${merchantId} and customer_id = ${customerId}`.execute(db);
  return rows[0]?.payer_language ?? null;
}
