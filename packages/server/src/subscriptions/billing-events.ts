import type { Change } from '../events/index.ts';
import { type InvoiceRow, presentInvoice } from '../invoices/index.ts';
import { invariant } from '../platform/fail.ts';
import { encodeId } from '../tenancy/index.ts';
import type { Billing, ChangedBilling } from './billing.ts';
import type { DecidedEvent, Decision } from './decide/facts.ts';
import type { BillingContext } from './deps.ts';
import { presentSubscription } from './present.ts';

interface Told {
  before: Pick<Billing, 'subscription' | 'invoices'>;
  after: ChangedBilling;
  /** Events of the payments that the change is about, by the invoices that they pay. */
  paymentNews: readonly { invoiceId: string; change: Change }[];
}

/** The events of a decision in its order, each with its resource as it stands after the whole change. */
export function eventsOf({ events }: Decision, told: Told, context: BillingContext): Change[] {
  const isMade = events.some(({ type }) => type === 'subscription.created');
  return events.map((event) => {
    if (event.type.startsWith('payment.')) return paymentChange(event, told);
    return event.invoiceId === undefined
      ? subscriptionChange(event, told, context, isMade)
      : invoiceChange(event, told, context);
  });
}

function paymentChange({ type, invoiceId }: DecidedEvent, { paymentNews }: Told): Change {
  const found = paymentNews.find((news) => news.invoiceId === invoiceId && news.change.type === type);
  invariant(found !== undefined, `the payment of an invoice tells ${type}`);
  return found.change;
}

function common({ store_id: storeId, merchant_id: merchantId }: InvoiceOwner, { time }: BillingContext) {
  const { livemode, seconds: nowSeconds, realMs: nowMs } = time;
  return { merchantId, storeId, livemode, nowSeconds, nowMs };
}
type InvoiceOwner = Pick<InvoiceRow, 'merchant_id' | 'store_id'>;

function subscriptionChange(
  { type }: DecidedEvent,
  { before, after }: Told,
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
  { before, after }: Told,
  context: BillingContext,
): Change {
  const row = after.invoices.find(({ invoice_id }) => invoice_id === invoiceId);
  invariant(row !== undefined, 'an invoice that is told of has changed');
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
