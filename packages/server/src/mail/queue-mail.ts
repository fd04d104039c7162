import { type MailKind, MERCHANT_MAIL_KINDS } from '@florin/contract/schemas';
import { type MailView, pageLanguageOf } from '@florin/pages';
import { newId } from '../platform/db/ids/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { listed, prepared } from '../platform/db/statements/index.ts';
import { enqueue } from '../platform/jobs/index.ts';
import { brandOf } from '../stores/branding/index.ts';
import { getStore } from '../stores/index.ts';
import { encodeId, type MerchantTime } from '../tenancy/index.ts';
import { readSettings } from '../tenancy/settings/index.ts';
import { sendMailJob } from './jobs.ts';
import { isOff, MAIL_SETTINGS } from './settings.ts';
import './tables.ts';

/** A mail of one cause. */
export interface NewMail extends Pick<MailView, 'values' | 'rows'> {
  kind: MailKind;
  /** A page of the console by its path below that of the store. */
  link: MailView['link'] | { to: 'console'; page: string };
  /** Public id of what it is about. */
  about: string;
  /** Where several mails of this kind may be about the same: a text that differs for each. */
  cause?: string;
  /** The payer's address; a kind for the merchant's people goes to those of the setting. */
  to?: string;
  /** The payer's language, as last seen; by default English. */
  language?: string | null;
}

/** Whose mail it is. */
export interface MailOwner {
  merchantId: string;
  storeId: string;
}

const isForMerchant = (kind: MailKind) => MERCHANT_MAIL_KINDS.some((one) => one === kind);

function pathOf(link: NewMail['link'], { merchantId, storeId }: MailOwner): MailView['link'] {
  if (link === null || 'path' in link) return link;
  const store = `/console/${encodeId('merchant', merchantId)}/${encodeId('store', storeId)}`;
  return { to: link.to, path: `${store}/${link.page}` };
}

/**
 * Makes a mail in the transaction of its cause. One that was made before (same kind, cause and recipient) is not made again.
 * A sandbox keeps its mails; others are sent by a job.
 *
 * @example await queueMail(tx, owner, time, { kind: 'refund_paid', about: 'A-17-r1', to: 'ada@example.com', … });
 */
export async function queueMail(tx: Tx, owner: MailOwner, time: MerchantTime, mail: NewMail): Promise<void> {
  const { merchantId, storeId } = owner;
  const merchant = { merchantId, mode: time.livemode ? 'live' : 'sandbox' } as const;
  const { notify, off } = await readSettings(tx, merchant, MAIL_SETTINGS);
  const recipients = isForMerchant(mail.kind) ? notify : mail.to === undefined ? [] : [mail.to];
  if (recipients.length === 0 || isOff(off, encodeId('store', storeId), mail.kind)) return;
  const store = await getStore(tx, merchantId, storeId);
  const language = pageLanguageOf(mail.language);
  const { kind, about, cause = about, values, rows, link } = mail;
  const view = {
    kind,
    language,
    storeName: store.name,
    brand: brandOf(store),
    isTest: !time.livemode,
    values,
    rows,
    link: pathOf(link, owner),
  };
  const fresh = recipients.map((recipient) => ({ mailId: newId(), recipient }));
  const made = await prepared<{ mail_id: string }>`
    insert into mail (merchant_id, mail_id, kind, cause, about, recipient, language, view, status, created_at)
    select ${merchantId}::uuid, m.mail_id, ${kind}, ${cause}, ${about}, m.recipient, ${language},
           ${JSON.stringify(view)}::jsonb, ${time.livemode ? 'pending' : 'caught'}, ${time.seconds}::bigint
    from ${listed('m', fresh, { mail_id: ['uuid', (m) => m.mailId], recipient: ['text', (m) => m.recipient] })}
    on conflict (merchant_id, kind, cause, recipient) do nothing
    returning mail_id`.execute(tx);
  if (!time.livemode) return;
  await enqueue(
    tx,
    made.rows.map(({ mail_id: mailId }) => sendMailJob(merchantId, mailId, time.realMs)),
  );
}
