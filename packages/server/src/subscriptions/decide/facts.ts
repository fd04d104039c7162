import type { BillingInterval, SubscriptionStatus } from '@florin/contract/schemas';
import type { InvoiceFacts } from '../../invoices/index.ts';
import type { Ranges } from './billed-ranges.ts';

/** What decisions about a subscription look at, and what they write. Times are Unix seconds of the merchant's clock. */
export interface SubscriptionFacts {
  status: SubscriptionStatus;
  /** The sum of the items, in the smallest unit of the currency. */
  amount: bigint;
  /** What the period billed last was billed for, with what changes within it added and gave back. */
  billed: Ranges;
  /** The sum of the items from the next period on; null: the same. */
  pendingAmount: bigint | null;
  interval: BillingInterval;
  /** From where periods are counted. */
  anchor: number;
  trialEnd: number | null;
  /** The last period that was paid, or the trial; before the first payment the period that this is for. */
  periodStart: number;
  periodEnd: number;
  /** Where the newest period ends whose renewal is recorded as skipped; null: none since the last paid one. */
  skippedUntil: number | null;
  cancelAt: number | null;
  canceledAt: number | null;
  /** What is left of changes to smaller items. */
  credit: bigint;
  methodId: string | null;
  latestInvoiceId: string | null;
  createdAt: number;
}

export interface Facts {
  subscription: SubscriptionFacts;
  /** The open ones, oldest first. */
  invoices: readonly InvoiceFacts[];
  /** The paid ones of the current period, newest first, where a change may give some of them back. */
  covering?: readonly InvoiceFacts[];
}

/** What the merchant's settings say. */
export interface BillingRules {
  /** Days after the first failed charge, ascending. */
  dunningDays: readonly number[];
  /** How long a page invoice may be paid before it is overdue, in seconds. */
  pageDueSeconds: number;
}

/** An event of a decision; `invoiceId` names the invoice, or the one whose charge or page it is about. */
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

/** All that one change writes. Pages open and close with the `page` of their invoices. */
export interface Decision {
  subscription: SubscriptionFacts;
  /** Those that are new or have changed. */
  invoices: InvoiceFacts[];
  /** In the order in which they are told. */
  events: DecidedEvent[];
}
