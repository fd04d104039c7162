import type { Change } from '../events/index.ts';
import { type InvoiceRow, presentInvoice } from '../invoices/index.ts';
import { invariant } from '../platform/fail.ts';
import { encodeId } from '../tenancy/index.ts';
import type { Billing, ChangedBilling } from './billing.ts';
import type { DecidedEvent, Decision } from './decide/facts.ts';
import type { BillingContext } from './deps.ts';
import { presentSubscription } from './present.ts';

/** A written change, for the resources in its events. */
interface WrittenChange {
  before: Pick<Billing, 'subscription' | 'invoices'>;
  after: ChangedBilling;
  /** Events of the change's payments, with the invoices that they pay. */
  paymentEvents: readonly { invoiceId: string; change: Change }[];
}

/** The events of a decision, in its order. Each has its resource as it is after the whole change. */
export function eventsOf({ events }: Decision, change: WrittenChange, context: BillingContext): Change[] {
  const isMade = events.some(({ type }) => type === 'subscription.created');
  return events.map((event) => {
    if (event.type.startsWith('payment.')) return paymentChange(event, change);
    return event.invoiceId === undefined
      ? subscriptionChange(event, change, context, isMade)
      : invoiceChange(event, change, context);
  });
}

function paymentChange({ type, invoiceId }: DecidedEvent, { paymentEvents }: WrittenChange): Change {
  const found = paymentEvents.find((event) => event.invoiceId === invoiceId && event.change.type === type);
  invariant(found !== undefined, `the payment of an invoice has an event ${type}`);
  return found.change;
}

function common({ store_id: storeId, merchant_id: merchantId }: InvoiceOwner, { time }: BillingContext) {
  const { livemode, seconds: nowSeconds, realMs: nowMs } = time;
  return { merchantId, storeId, livemode, nowSeconds, nowMs };
}
type InvoiceOwner = Pick<InvoiceRow, 'merchant_id' | 'store_id'>;

function subscriptionChange(
  { type }: DecidedEvent,
  { before, after }: WrittenChange,
  context: BillingContext,
  isMade: boolean,
): Change {
  return {
    ...common(after.subscription, context),
    type,
    resource: encodeId('subscription', after.subscription.subscription_id),
    before: isMade ? null : presentSubscription(before.subscription),
    after: presentSubscription(after.subscription),
  };
}

function invoiceChange(
  { type, invoiceId }: DecidedEvent,
  { before, after }: WrittenChange,
  context: BillingContext,
): Change {
  const row = after.invoices.find(({ invoice_id }) => invoice_id === invoiceId);
  invariant(row !== undefined, 'an invoice with an event has changed');
  const known = before.invoices.find(({ invoice_id }) => invoice_id === invoiceId);
  return {
    ...common(row, context),
    type,
    resource: encodeId('invoice', row.invoice_id),
    before: known === undefined ? null : presentInvoice(known),
    after: presentInvoice(row),
    always: true,
  };
}
