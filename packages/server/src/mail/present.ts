import type { Mail, MailWithContent } from '@florin/contract/schemas';
import { renderMail } from '@florin/pages';
import { encodeId } from '../tenancy/index.ts';
import type { MailRow } from './queries.ts';

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

/** With content where no real money is behind it: a claim link belongs to its recipient alone. */
export async function presentContent(row: MailRow, publicUrl: string): Promise<MailWithContent> {
  const content =
    row.status === 'caught'
      ? await renderMail(row.view, publicUrl)
      : { subject: null, text: null, html: null };
  return { ...presentMail(row), ...content };
}
