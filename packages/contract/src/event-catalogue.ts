import type { RecordedEventType } from './schemas/index.ts';

export interface EventEntry {
  /** `object` of the resource that the event carries. */
  resource: string;
  /** The change that causes it. */
  change: string;
  /** False: named by the specification, but the feature that causes it does not exist yet. */
  built: boolean;
}

/** Every event type, with its resource and cause. */
export const EVENT_CATALOGUE: Readonly<Record<RecordedEventType, EventEntry>> = {
  'payment.completed': {
    resource: 'payment',
    change: 'Enough money of a payment is final, it is accepted as it is, or a charge is final.',
    built: true,
  },
  'payment.failed': {
    resource: 'payment',
    change: 'A charge of a mandate failed, or money of a sanctioned sender froze the payment.',
    built: true,
  },
  'payment.expired': {
    resource: 'payment',
    change: 'The time of a checkout session or of an invoice page is over without enough money.',
    built: true,
  },
  'payment.cancelled': {
    resource: 'payment',
    change: 'An open checkout session is canceled, or the subscription whose page is open.',
    built: true,
  },
  'refund.succeeded': {
    resource: 'refund',
    change: 'The transfer that pays a refund out is final.',
    built: true,
  },
  'refund.failed': {
    resource: 'refund',
    change: 'A refund cannot be paid out: its money is back with the merchant.',
    built: true,
  },
  'subscription.created': { resource: 'subscription', change: 'A subscription is created.', built: true },
  'subscription.trialing': {
    resource: 'subscription',
    change: 'A trial begins: a payment method is there.',
    built: true,
  },
  'subscription.active': {
    resource: 'subscription',
    change: 'The first payment, or the last overdue one, is final; or there is nothing to pay.',
    built: true,
  },
  'subscription.past_due': {
    resource: 'subscription',
    change: 'A charge failed, or an invoice page is unpaid on its due date.',
    built: true,
  },
  'subscription.canceled': {
    resource: 'subscription',
    change: 'A subscription is canceled, by a call, by plan or because nobody paid.',
    built: true,
  },
  'subscription.updated': {
    resource: 'subscription',
    change: 'Items, metadata, payment method or planned end changed, or the period moved on.',
    built: true,
  },
  'subscription.incomplete_expired': {
    resource: 'subscription',
    change: 'The first payment did not come within 23 hours.',
    built: true,
  },
  'invoice.created': { resource: 'invoice', change: 'An invoice is opened.', built: true },
  'invoice.paid': { resource: 'invoice', change: 'An invoice is paid, or has nothing to pay.', built: true },
  'invoice.payment_failed': {
    resource: 'invoice',
    change: 'A charge of an invoice failed, or its page is unpaid on its due date.',
    built: true,
  },
  'payout_batch.updated': {
    resource: 'payout_batch',
    change: 'A payout batch changes: created, edited, submitted, approved, paid, ended.',
    built: true,
  },
  'payout_item.updated': {
    resource: 'payout_item',
    change: 'A reorganisation took the transaction of a paid item, or it is paid again or given back.',
    built: true,
  },
  'refund.updated': {
    resource: 'refund',
    change:
      'A refund is canceled: by a call, by an approver, or as nobody approved or claimed it in time; or a reorganisation took the transaction of one that succeeded, or it is paid again.',
    built: true,
  },
  'payment_method.updated': {
    resource: 'payment_method',
    change: 'The status of a payment method changed.',
    built: true,
  },
  'payment.updated': {
    resource: 'payment',
    change:
      'A payment changes without another event of its own: money is seen, final, gone or accepted, or its invoice is reduced.',
    built: true,
  },
  'webhook_endpoint.disabled': {
    resource: 'webhook_endpoint',
    change: 'An endpoint was disabled, by a call or as nothing but failures came from it for days.',
    built: true,
  },
  'webhook_endpoint.test': {
    resource: 'webhook_endpoint',
    change: 'The test call of an endpoint, to that endpoint alone.',
    built: true,
  },
};
