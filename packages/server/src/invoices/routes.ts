import { Invoice, InvoiceList, InvoicePath, InvoiceQuery } from '@florin/contract/schemas';
import { findCustomerId } from '../customers/index.ts';
import { NIL_ID } from '../platform/db/ids/index.ts';
import { createdRange, pageOf } from '../platform/db/lists/index.ts';
import { defineList, defineRoute, type Route, type SliceRequest } from '../platform/http/index.ts';
import type { Platform } from '../platform/platform.ts';
import type { Owner } from '../tenancy/index.ts';
import { decodeId } from '../tenancy/index.ts';
import { presentInvoice } from './present.ts';
import { getInvoice, type InvoiceRow, listInvoices } from './queries.ts';

const PATH = '/api/v1/invoices';
const tag = 'Invoices';

async function readPage(
  { db }: Platform,
  owner: Owner,
  query: InvoiceQuery,
  slice: SliceRequest,
): Promise<InvoiceRow[]> {
  const { customer, subscription, status } = query;
  // An unknown customer or subscription becomes the nil id, which matches no invoice.
  const customerId = customer && ((await findCustomerId(db, owner.merchantId, customer)) ?? NIL_ID);
  const subscriptionId = subscription && (decodeId('subscription', subscription) ?? NIL_ID);
  return await listInvoices(db, owner, {
    customerId,
    subscriptionId,
    status,
    created: createdRange(query),
    ...slice,
  });
}

/** Invoices are read-only in the API, and belong to the store of their subscription. */
export function invoiceRoutes(platform: Platform): Route[] {
  return [
    defineList({
      path: PATH,
      operationId: 'listInvoices',
      tag,
      summary: 'List the invoices of the store, newest first',
      query: InvoiceQuery,
      answer: InvoiceList,
      refusals: [],
      read: async ({ caller, query }, slice) =>
        pageOf(await readPage(platform, caller, query, slice), slice, presentInvoice),
    }),
    defineRoute({
      method: 'GET',
      path: `${PATH}/{invoice_id}`,
      operationId: 'retrieveInvoice',
      tag,
      summary: 'Read an invoice',
      scope: 'read',
      params: InvoicePath,
      answer: Invoice,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params }) => ({
        body: presentInvoice(await getInvoice(platform.db, caller, params.invoice_id)),
      }),
    }),
  ];
}
