import type { Mail, MailWithContent } from '@florin/contract/schemas';
import { renderMail } from '@florin/pages';
import type { Platform } from '../platform/platform.ts';
import type { Vault } from '../platform/secrets/index.ts';
import { encodeId } from '../tenancy/index.ts';
import { openLink } from './people/index.ts';
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
  { db, vault }: Pick<Platform, 'db' | 'vault'>,
  merchantId: string,
  { limit, publicUrl }: { limit: number; publicUrl: string },
): Promise<MailWithContent[]> {
  const rows = await listMails(db, merchantId, readMailFilter({ status: 'caught' }), {
    limit,
    after: undefined,
  });
  return await Promise.all(
    rows.slice(0, limit).map((row) => presentContent(withLink(row, vault), publicUrl)),
  );
}

/**
 * The HTML of a mail that a sandbox has caught.
 *
 * @throws Fail `resource_not_found`
 */
export async function readCaughtMail(
  { db, vault }: Pick<Platform, 'db' | 'vault'>,
  merchantId: string,
  { id, publicUrl }: { id: string; publicUrl: string },
): Promise<string> {
  const row = withLink(await getMail(db, merchantId, id), vault);
  return (await presentContent(row, publicUrl)).html ?? '';
}

/** With the link by which somebody comes in, for the sandbox's own machine: others who read mails do not get it. */
function withLink(row: MailRow, vault: Vault): MailRow {
  const path = openLink(vault, row);
  return path === undefined ? row : { ...row, view: { ...row.view, link: { to: 'invitation', path } } };
}

/** With content where no real money is behind it: a claim link belongs to its recipient alone. */
export async function presentContent(row: MailRow, publicUrl: string): Promise<MailWithContent> {
  const content =
    row.status === 'caught'
      ? await renderMail(row.view, publicUrl)
      : { subject: null, text: null, html: null };
  return { ...presentMail(row), ...content };
}
