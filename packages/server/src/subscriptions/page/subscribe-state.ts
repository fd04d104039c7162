import type { SubscriptionStatus } from '@florin/contract/schemas';
import type { SubscribeState } from '@florin/pages';
import type { InvoicePageState } from '../../payments/index.ts';

/** The inputs of the page's state. */
export interface SubscribeFacts {
  status: SubscriptionStatus;
  hasMethod: boolean;
  /** The newest invoice while it is open; null: none, as for a trial until its end. */
  invoice: {
    /** A charge is pending. */
    isLive: boolean;
    hasFailed: boolean;
    /** Its own page; null: it has none. */
    page: InvoicePageState | null;
  } | null;
}

export function subscribeState({ status, hasMethod, invoice }: SubscribeFacts): SubscribeState {
  switch (status) {
    case 'canceled':
      return 'ended';
    case 'incomplete_expired':
      return 'expired';
    case 'trialing':
    case 'active':
      return 'done';
    case 'past_due':
      return underWay(invoice) ?? 'overdue';
    case 'incomplete':
      if (invoice === null) return hasMethod ? 'confirming' : 'choose';
      // A new mandate will be charged soon; after a failure the payer may act.
      return underWay(invoice) ?? (hasMethod && !invoice.hasFailed ? 'confirming' : 'choose');
  }
}

/** Undefined where no payment of the invoice is pending. */
function underWay(invoice: SubscribeFacts['invoice']): 'review' | 'confirming' | undefined {
  if (invoice === null) return undefined;
  if (invoice.page === 'frozen') return 'review';
  return invoice.isLive || invoice.page === 'money' || invoice.page === 'paid' ? 'confirming' : undefined;
}
