import type { InvoiceStatus } from '@florin/contract/schemas';
import type { Selectable } from 'kysely';
import type { Db, Tables } from '../platform/db/index.ts';
import {
  type CreatedRange,
  cursorOf,
  madeWithin,
  type Page,
  readByCreation,
  unknownCursor,
} from '../platform/db/lists/index.ts';
import { decodeId, type Owner, ofStore } from '../tenancy/index.ts';
import './tables.ts';

export type InvoiceRow = Selectable<Tables['invoice']>;

const selectInvoices = (db: Db, merchantId: string) =>
  db.selectFrom('invoice').selectAll().where('merchant_id', '=', merchantId);

export async function findInvoice(
  db: Db,
  merchantId: string,
  invoiceId: string,
): Promise<InvoiceRow | undefined> {
  return await selectInvoices(db, merchantId).where('invoice_id', '=', invoiceId).executeTakeFirst();
}

/** @throws Fail `resource_not_found`; `forbidden` for an invoice of another store of the merchant */
export async function getInvoice(db: Db, owner: Owner, id: string): Promise<InvoiceRow> {
  const invoiceId = decodeId('invoice', id);
  const row = invoiceId === undefined ? undefined : await findInvoice(db, owner.merchantId, invoiceId);
  return ofStore(row, owner, 'invoice');
}

export interface InvoiceFilter {
  customerId?: string | undefined;
  subscriptionId?: string | undefined;
  status?: InvoiceStatus | undefined;
  created?: CreatedRange | undefined;
}

/** A store's invoices; up to one row more than the limit. */
export async function listInvoices(
  db: Db,
  owner: Owner,
  filter: InvoiceFilter & Page<string>,
): Promise<InvoiceRow[]> {
  const { customerId, subscriptionId, status } = filter;
  let query = selectInvoices(db, owner.merchantId).where('store_id', '=', owner.storeId);
  if (subscriptionId !== undefined) query = query.where('subscription_id', '=', subscriptionId);
  if (customerId !== undefined) query = query.where('customer_id', '=', customerId);
  if (status !== undefined) query = query.where('status', '=', status);
  const after = await cursorOf(filter.after, (id) => getInvoice(db, owner, id));
  if (after !== undefined && !isListed(after, filter)) throw unknownCursor();
  return await readByCreation(madeWithin(query, filter.created ?? {}), 'invoice_id', { ...filter, after });
}

/** Whether a cursor belongs to the filtered list. Its status is not compared, since it may have changed. */
const isListed = (row: InvoiceRow, { customerId, subscriptionId }: InvoiceFilter) =>
  (customerId === undefined || row.customer_id === customerId) &&
  (subscriptionId === undefined || row.subscription_id === subscriptionId);
