import type { InvoiceRow } from '../invoices/index.ts';
import type { Facts } from './decide/facts.ts';
import type { SubscriptionRow } from './queries.ts';

/** A locked subscription with the facts that decisions about it need. */
export interface Billing {
  subscription: SubscriptionRow;
  /** The open invoices. */
  invoices: readonly InvoiceRow[];
  facts: Facts;
}

/** A subscription after a change. */
export interface ChangedBilling {
  subscription: SubscriptionRow;
  /** The invoices that the change created or updated. */
  invoices: InvoiceRow[];
}
