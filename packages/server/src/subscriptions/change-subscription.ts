import { type InvoicePageState, lockInvoicePage } from '../checkout/index.ts';
import { type Change, recordEvents } from '../events/index.ts';
import {
  factsOfInvoice,
  type InvoiceFacts,
  type InvoiceRow,
  lockOpenInvoices,
  type PageState,
} from '../invoices/index.ts';
import { crashPoint } from '../platform/crash-point.ts';
import type { Tx } from '../platform/db.ts';
import { enqueue } from '../platform/jobs/index.ts';
import { eventsOf } from './billing-events.ts';
import { lockSubscription, updateSubscriptionRow } from './billing-queries.ts';
import type { BillingContext } from './deps.ts';
import type { Decision, Facts } from './facts.ts';
import { dueJob } from './jobs.ts';
import type { SubscriptionRow } from './queries.ts';
import { factsOfSubscription, subscriptionColumns } from './rows.ts';
import { isFinal } from './states.ts';
import type { StoredItem } from './tables.ts';
import { closePage, writeInvoice } from './write-invoices.ts';

/** A subscription under its lock, with all that decisions about it look at. */
export interface Billing {
  subscription: SubscriptionRow;
  /** The open ones. */
  invoices: readonly InvoiceRow[];
  facts: Facts;
}

const PAGES: Record<InvoicePageState, PageState> = {
  open: 'open',
  busy: 'money',
  frozen: 'frozen',
  paid: 'paid',
  over: 'expired',
};

/** Locks the subscription, its open invoices and the payments of their pages, in this order. */
export async function lockBilling(tx: Tx, merchantId: string, subscriptionId: string): Promise<Billing> {
  const subscription = await lockSubscription(tx, merchantId, subscriptionId);
  const rows = await lockOpenInvoices(tx, merchantId, subscriptionId);
  const invoices: InvoiceFacts[] = [];
  for (const row of rows) invoices.push(factsOfInvoice(row, await pageOf(tx, row)));
  return {
    subscription,
    invoices: rows,
    facts: { subscription: factsOfSubscription(subscription), invoices },
  };
}

async function pageOf(tx: Tx, row: InvoiceRow): Promise<PageState> {
  const { merchant_id: merchantId, page_payment_id: paymentId } = row;
  return paymentId === null ? 'none' : PAGES[await lockInvoicePage(tx, { merchantId, paymentId })];
}

/** What a command adds to what is decided. */
export interface Additions {
  items?: StoredItem[] | undefined;
  pendingItems?: StoredItem[] | undefined;
  metadata?: SubscriptionRow['metadata'] | undefined;
  /** The payment of the charge that the change is about, and its event where it has one. */
  charge?: { invoiceId: string; paymentId: string; change: Change | undefined };
  /** The change has made the subscription, whose row stands already. */
  isDueJob?: boolean;
}

export interface Written {
  decision: Decision;
  context: BillingContext;
  additions?: Additions;
}

export interface ChangedBilling {
  subscription: SubscriptionRow;
  /** Those that the change made or altered. */
  invoices: InvoiceRow[];
}

/** News of a payment, by the invoice that it pays. */
export interface PaymentNews {
  invoiceId: string;
  change: Change;
}

/** Writes all of a decision, its events in their order, and the job of what is due next. */
export async function writeDecision(
  tx: Tx,
  before: Billing,
  { decision, context, additions = {} }: Written,
): Promise<ChangedBilling> {
  const { charge } = additions;
  const paymentNews: PaymentNews[] = [];
  if (charge?.change !== undefined) paymentNews.push({ invoiceId: charge.invoiceId, change: charge.change });
  const invoices: InvoiceRow[] = [];
  for (const facts of decision.invoices) {
    const invoice = { known: before.invoices.find((row) => row.invoice_id === facts.id), facts };
    const change = await closePage(tx, invoice, context);
    if (change !== undefined) paymentNews.push({ invoiceId: facts.id, change });
    const chargePaymentId = charge?.invoiceId === facts.id ? charge.paymentId : undefined;
    invoices.push(await writeInvoice(tx, invoice, before.subscription, { context, chargePaymentId }));
  }
  crashPoint('billing.invoices-written');
  const subscription = await updateSubscriptionRow(tx, before.subscription, {
    ...subscriptionColumns(decision.subscription),
    ...itemColumns(before, decision, additions),
    ...(additions.metadata === undefined ? {} : { metadata: additions.metadata }),
  });
  const after = { subscription, invoices };
  await recordEvents(tx, eventsOf(decision, { before, after, paymentNews }, context));
  crashPoint('billing.events-recorded');
  if (!isFinal(subscription.status) && !additions.isDueJob)
    await enqueue(tx, [dueJob(subscription, context.occasion.realMs)]);
  return after;
}

/** What is planned for the next period becomes the items where the decision says that it has begun. */
function itemColumns({ subscription, facts }: Billing, decision: Decision, additions: Additions) {
  const { pendingAmount } = decision.subscription;
  const hasBegun = facts.subscription.pendingAmount !== null && pendingAmount === null;
  const items = additions.items ?? (hasBegun ? subscription.pending_items : null);
  const pending = pendingAmount === null ? null : (additions.pendingItems ?? subscription.pending_items);
  return {
    ...(items === null ? {} : { items: JSON.stringify(items) }),
    pending_items: pending && JSON.stringify(pending),
  };
}
