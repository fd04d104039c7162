import type { PEOPLE_MAIL_KINDS } from '@florin/contract/schemas';
import type { MailView } from '@florin/pages';
import { newId } from '../../platform/db/ids/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import { enqueue } from '../../platform/jobs/index.ts';
import type { Vault } from '../../platform/secrets/index.ts';
import type { MerchantTime } from '../../tenancy/index.ts';
import { sendMailJob } from '../jobs.ts';
import '../tables.ts';

/** A mail to somebody of the console. */
export interface PeopleMail {
  kind: (typeof PEOPLE_MAIL_KINDS)[number];
  /** Public id of the person. */
  about: string;
  /** Differs for each mail of a kind; of an invitation the digest of its link's secret, in hex. */
  cause: string;
  to: string;
  values: Readonly<Record<string, string>>;
  /** Where its link leads, for a sandbox's mailbox. The link of a mail that is sent is made while it is sent. */
  path?: string;
}

const contextOf = (cause: string) => `mail link ${cause}`;

/** What the link of a caught mail leads to; the row alone opens nothing. */
export const openLink = (
  vault: Vault,
  { cause, view }: { cause: string; view: MailView },
): string | undefined =>
  view.sealedLink &&
  Buffer.from(vault.open(Buffer.from(view.sealedLink, 'base64'), contextOf(cause))).toString();

/** Makes a mail of no store, in English as the console is, in the transaction of its cause. A sandbox keeps it. */
export async function queuePeopleMail(
  tx: Tx,
  vault: Vault,
  { merchantId, merchantName, ...time }: MerchantTime & { merchantId: string; merchantName: string },
  { kind, about, cause, to: recipient, values, path }: PeopleMail,
): Promise<void> {
  const { livemode, seconds, realMs } = time;
  const sealed = path === undefined || livemode ? undefined : vault.seal(Buffer.from(path), contextOf(cause));
  const view: MailView = {
    kind,
    language: 'en',
    storeName: merchantName,
    isTest: !livemode,
    values,
    rows: {},
    link: null,
    ...(sealed !== undefined && { sealedLink: sealed.toString('base64') }),
  };
  const mailId = newId();
  await tx
    .insertInto('mail')
    .values({
      merchant_id: merchantId,
      mail_id: mailId,
      kind,
      cause,
      about,
      recipient,
      language: 'en',
      view,
      status: livemode ? 'pending' : 'caught',
      attempts: 0,
      error: null,
      created_at: seconds,
      ended_at: null,
    })
    .execute();
  if (livemode) await enqueue(tx, [sendMailJob(merchantId, mailId, realMs)]);
}
