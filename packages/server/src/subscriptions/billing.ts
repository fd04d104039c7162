import type { InvoiceRow } from '../invoices/index.ts';
import type { Facts } from './decide/facts.ts';
import type { SubscriptionRow } from './queries.ts';

/** A subscription under its lock, with all that decisions about it look at. */
export interface Billing {
  subscription: SubscriptionRow;
  /** The open ones. */
  invoices: readonly InvoiceRow[];
  facts: Facts;
}

/** A subscription after a change. */
export interface ChangedBilling {
  subscription: SubscriptionRow;
  /** Those that the change made or altered. */
  invoices: InvoiceRow[];
}
