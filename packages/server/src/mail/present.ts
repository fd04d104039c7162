import type { Mail, MailWithContent } from '@florin/contract/schemas';
import { renderMail } from '@florin/pages';
import type { Db } from '../platform/db/index.ts';
import { encodeId } from '../tenancy/index.ts';
import { getMail, listMails, type MailRow, readMailFilter } from './queries.ts';

export const presentMail = (row: MailRow): Mail => ({
  id: encodeId('mail', row.mail_id),
  object: 'mail',
  kind: row.kind,
  to: row.recipient,
  language: row.language,
  about: row.about,
  status: row.status,
  attempts: row.attempts,
  error: row.error,
  created: Number(row.created_at),
  ended_at: row.ended_at === null ? null : Number(row.ended_at),
});

/** A sandbox merchant's mails, newest first, with their content. */
export async function listCaughtMails(
  db: Db,
  merchantId: string,
  { limit, publicUrl }: { limit: number; publicUrl: string },
): Promise<MailWithContent[]> {
  const rows = await listMails(db, merchantId, readMailFilter({ status: 'caught' }), {
    limit,
    after: undefined,
  });
  return await Promise.all(rows.slice(0, limit).map((row) => presentContent(row, publicUrl)));
}

/**
 * The HTML of a mail that a sandbox has caught.
 *
 * @throws Fail `resource_not_found`
 */
export async function readCaughtMail(
  db: Db,
  merchantId: string,
  { id, publicUrl }: { id: string; publicUrl: string },
): Promise<string> {
  return (await presentContent(await getMail(db, merchantId, id), publicUrl)).html ?? '';
}

/** With content where no real money is behind it: a claim link belongs to its recipient alone. */
export async function presentContent(row: MailRow, publicUrl: string): Promise<MailWithContent> {
  const content =
    row.status === 'caught'
      ? await renderMail(row.view, publicUrl)
      : { subject: null, text: null, html: null };
  return { ...presentMail(row), ...content };
}
