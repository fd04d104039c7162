import type { MailKind, MailQuery, MailStatus } from '@florin/contract/schemas';
import type { Selectable, Updateable } from 'kysely';
import type { Db, Tables, Tx } from '../platform/db/index.ts';
import type { CreatedRange } from '../platform/db/lists/index.ts';
import { createdRange, cursorOf, madeWithin, type Page, readByCreation } from '../platform/db/lists/index.ts';
import { Fail } from '../platform/fail.ts';
import { decodeId } from '../tenancy/index.ts';
import { MAIL_MOVES } from './states.ts';
import './tables.ts';

export type MailRow = Selectable<Tables['mail']>;

const ofMerchant = (db: Db, merchantId: string) =>
  db.selectFrom('mail').selectAll().where('merchant_id', '=', merchantId);

/** Locks a mail (`for update`). */
export async function lockMail(tx: Tx, merchantId: string, mailId: string): Promise<MailRow | undefined> {
  return await ofMerchant(tx, merchantId).where('mail_id', '=', mailId).forUpdate().executeTakeFirst();
}

/** Changes a locked mail. */
export async function changeMail(
  tx: Tx,
  { merchant_id: merchantId, mail_id: mailId, status }: MailRow,
  change: Updateable<Tables['mail']> & { status: MailStatus },
): Promise<void> {
  MAIL_MOVES.check(status, change.status);
  await tx
    .updateTable('mail')
    .set(change)
    .where('merchant_id', '=', merchantId)
    .where('mail_id', '=', mailId)
    .execute();
}

/** Gives a locked mail another cause. */
export async function renameCause(
  tx: Tx,
  { merchant_id: merchantId, mail_id: mailId }: MailRow,
  cause: string,
): Promise<void> {
  await tx
    .updateTable('mail')
    .set({ cause })
    .where('merchant_id', '=', merchantId)
    .where('mail_id', '=', mailId)
    .execute();
}

/** @throws Fail `resource_not_found` */
export async function getMail(db: Db, merchantId: string, text: string): Promise<MailRow> {
  const mailId = decodeId('mail', text);
  const row =
    mailId === undefined
      ? undefined
      : await ofMerchant(db, merchantId).where('mail_id', '=', mailId).executeTakeFirst();
  if (row === undefined) throw new Fail('resource_not_found', 'There is no such mail.');
  return row;
}

interface MailFilter {
  kind?: MailKind | undefined;
  status?: MailStatus | undefined;
  to?: string | undefined;
  about?: string | undefined;
  created: CreatedRange;
}

/** @throws Fail `invalid_request` for a range that holds no time */
export const readMailFilter = (query: MailQuery): MailFilter => ({ ...query, created: createdRange(query) });

/** A merchant's mails; one row more than the limit. */
export async function listMails(
  db: Db,
  merchantId: string,
  { kind, status, to, about, created }: MailFilter,
  page: Page<string>,
): Promise<MailRow[]> {
  let query = madeWithin(ofMerchant(db, merchantId), created);
  if (kind !== undefined) query = query.where('kind', '=', kind);
  if (status !== undefined) query = query.where('status', '=', status);
  if (to !== undefined) query = query.where('recipient', '=', to);
  if (about !== undefined) query = query.where('about', '=', about);
  const after = await cursorOf(page.after, (id) => getMail(db, merchantId, id));
  return await readByCreation(query, 'mail_id', { ...page, after });
}
