import type { BillingInterval, SubscriptionStatus } from '@florin/contract/schemas';
import type { InvoiceFacts } from '../../invoices/decide/index.ts';
import type { Ranges } from './billed-ranges.ts';

/** Inputs and outputs of decisions about a subscription. Times are Unix seconds of the merchant's clock. */
export interface SubscriptionFacts {
  status: SubscriptionStatus;
  /** The sum of the items, in the smallest unit of the currency. */
  amount: bigint;
  /** The billed parts of the last billed period, including later changes within it. */
  billed: Ranges;
  /** The sum of the items from the next period on; null: the same. */
  pendingAmount: bigint | null;
  interval: BillingInterval;
  /** The start of the period grid. */
  anchor: number;
  trialEnd: number | null;
  /** The last paid period, or the trial; before the first payment, the period of that payment. */
  periodStart: number;
  periodEnd: number;
  /** End of the newest skipped period; null: no period was skipped since the last paid one. */
  skippedUntil: number | null;
  cancelAt: number | null;
  canceledAt: number | null;
  /** The remaining credit from changes to smaller items. */
  credit: bigint;
  methodId: string | null;
  latestInvoiceId: string | null;
  createdAt: number;
}

export interface Facts {
  subscription: SubscriptionFacts;
  /** The open invoices, oldest first. */
  invoices: readonly InvoiceFacts[];
  /** The paid invoices of the current period, newest first; only for changes that may credit a part of them. */
  paidInPeriod?: readonly InvoiceFacts[];
}

/** The merchant's settings. */
export interface BillingRules {
  /** Days after the first failed charge, ascending. */
  dunningDays: readonly number[];
  /** How long a page invoice may be paid before it is overdue, in seconds. */
  pageDueSeconds: number;
}

/** An event of a decision. `invoiceId`: the invoice of the event, or of its charge or page. */
export interface DecidedEvent {
  type:
    | 'subscription.created'
    | 'subscription.trialing'
    | 'subscription.active'
    | 'subscription.past_due'
    | 'subscription.canceled'
    | 'subscription.updated'
    | 'subscription.incomplete_expired'
    | 'invoice.created'
    | 'invoice.paid'
    | 'invoice.payment_failed'
    | 'payment.completed'
    | 'payment.failed'
    | 'payment.expired'
    | 'payment.cancelled';
  invoiceId?: string;
}

/** Everything that one change writes. Pages open and close with the `page` of their invoices. */
export interface Decision {
  subscription: SubscriptionFacts;
  /** New and changed invoices. */
  invoices: InvoiceFacts[];
  /** In the order in which they are recorded. */
  events: DecidedEvent[];
}
