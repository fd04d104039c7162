import type { Insertable } from 'kysely';
import type { Db, Tables, Tx } from '../../platform/db/index.ts';
import { cursorOf, type Page, readByCreation } from '../../platform/db/lists/index.ts';
import { Fail } from '../../platform/fail.ts';
import { decodeId } from '../../tenancy/index.ts';
import './tables.ts';

interface Owner {
  merchantId: string;
  storeId: string;
}

const selectLink = (db: Db, merchantId: string, linkId: string) =>
  db
    .selectFrom('payment_link')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('link_id', '=', linkId);

export type LinkRow = Awaited<ReturnType<typeof getLink>>;

/** Finds a link by the ids in its token. */
export async function findLink(db: Db, merchantId: string, linkId: string): Promise<LinkRow | undefined> {
  return await selectLink(db, merchantId, linkId).executeTakeFirst();
}

/** @throws Fail `resource_not_found`; `forbidden` for a link of another store of the merchant */
export async function getLink(db: Db, owner: Owner, id: string) {
  const linkId = decodeId('paymentLink', id);
  const row = linkId && (await selectLink(db, owner.merchantId, linkId).executeTakeFirst());
  if (!row) throw new Fail('resource_not_found', 'There is no such payment link.');
  if (row.store_id !== owner.storeId)
    throw new Fail('forbidden', 'This payment link belongs to another store of the merchant.');
  return row;
}

/** A store's links; up to one row more than the limit. */
export async function listLinks(db: Db, owner: Owner, page: Page<string>): Promise<LinkRow[]> {
  const query = db
    .selectFrom('payment_link')
    .selectAll()
    .where('merchant_id', '=', owner.merchantId)
    .where('store_id', '=', owner.storeId);
  const after = await cursorOf(page.after, (id) => getLink(db, owner, id));
  return await readByCreation(query, 'link_id', { ...page, after });
}

export async function insertLink(tx: Tx, row: Insertable<Tables['payment_link']>): Promise<LinkRow> {
  return await tx.insertInto('payment_link').values(row).returningAll().executeTakeFirstOrThrow();
}

export async function setLinkActive(db: Db, link: LinkRow, active: boolean): Promise<LinkRow> {
  return await db
    .updateTable('payment_link')
    .set({ active })
    .where('merchant_id', '=', link.merchant_id)
    .where('link_id', '=', link.link_id)
    .returningAll()
    .executeTakeFirstOrThrow();
}
