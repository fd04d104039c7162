import type { Subscription, SubscriptionExpansion, SubscriptionReadQuery } from '@florin/contract/schemas';
import { keysOf } from '@florin/contract/tables';
import { readCustomer } from '../customers/index.ts';
import { findInvoice, presentInvoice } from '../invoices/index.ts';
import { defaultPaymentMethods, findPaymentMethod, presentPaymentMethod } from '../payment-methods/index.ts';
import type { Db } from '../platform/db/index.ts';
import { presentSubscription } from './present.ts';
import type { SubscriptionRow } from './queries.ts';

/** The expansions of both forms of the query parameter. */
export function expansionsOf(query: SubscriptionReadQuery): ReadonlySet<SubscriptionExpansion> {
  const named: readonly string[] = [...(query.expand?.split(',') ?? []), ...(query['expand[]'] ?? [])];
  return new Set(keysOf(EXPANSIONS).filter((name) => named.includes(name)));
}

type Expanded = Pick<Subscription, 'latest_invoice_object' | 'customer_object' | 'payment_method_object'>;

/** Reads each expansion; empty if the subscription has none. */
const EXPANSIONS: Record<SubscriptionExpansion, (db: Db, row: SubscriptionRow) => Promise<Expanded>> = {
  latest_invoice: async (db, row) => {
    const id = row.latest_invoice_id;
    const invoice = id === null ? undefined : await findInvoice(db, row.merchant_id, id);
    return invoice === undefined ? {} : { latest_invoice_object: presentInvoice(invoice) };
  },
  customer: async (db, row) => {
    const id = { merchantId: row.merchant_id, customerId: row.customer_id };
    const customer = await readCustomer(db, id, defaultPaymentMethods);
    return customer === undefined ? {} : { customer_object: customer };
  },
  payment_method: async (db, row) => {
    const id = row.payment_method_id;
    const method = id === null ? undefined : await findPaymentMethod(db, row.merchant_id, id);
    return method === undefined ? {} : { payment_method_object: presentPaymentMethod(method) };
  },
};

export async function presentExpanded(
  db: Db,
  row: SubscriptionRow,
  wanted: ReadonlySet<SubscriptionExpansion>,
): Promise<Subscription> {
  const parts = await Promise.all([...wanted].map((name) => EXPANSIONS[name](db, row)));
  return Object.assign(presentSubscription(row), ...parts);
}
