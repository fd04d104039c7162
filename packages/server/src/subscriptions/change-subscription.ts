import { lockInvoicePage } from '../checkout/index.ts';
import { type Change, recordEvents } from '../events/index.ts';
import {
  factsOfInvoice,
  type InvoiceFacts,
  type InvoiceRow,
  openInvoicesLock,
  type PageState,
} from '../invoices/index.ts';
import type { InvoicePageState } from '../payments/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { together } from '../platform/db/index.ts';
import type { JobSpec } from '../platform/jobs/index.ts';
import { crashPoint } from '../platform/jobs/index.ts';
import type { Billing, ChangedBilling } from './billing.ts';
import { eventsOf } from './billing-events.ts';
import { subscriptionLock, writeContent, writeFacts } from './billing-queries.ts';
import { type BillingContext, decisionContextOf } from './deps.ts';
import { decideDue } from './due.ts';
import type { Decision, Facts } from './facts.ts';
import { dueJob, realMsOf } from './jobs.ts';
import type { SubscriptionRow } from './queries.ts';
import { factsOfSubscription } from './rows.ts';
import type { StoredItem } from './tables.ts';
import { closePage, writeInvoice } from './write-invoices.ts';

const PAGES: Record<InvoicePageState, PageState> = {
  open: 'open',
  busy: 'money',
  frozen: 'frozen',
  paid: 'paid',
  over: 'expired',
};

/** Locks the subscription, its open invoices and the payments of their pages, in this order. */
export async function lockBilling(tx: Tx, merchantId: string, subscriptionId: string): Promise<Billing> {
  const [[subscription], rows] = await together(
    tx,
    subscriptionLock(merchantId, subscriptionId),
    openInvoicesLock(merchantId, subscriptionId),
  );
  if (subscription === undefined) throw new Error(`there is no subscription ${subscriptionId}`);
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
  /** What else follows from the change. */
  jobs?: readonly JobSpec[];
  /** The due job itself writes: it comes back by itself when the next is due. */
  isDueJob?: boolean;
}

export interface Written {
  decision: Decision;
  context: BillingContext;
  additions?: Additions;
}

/** News of a payment, by the invoice that it pays. */
export interface PaymentNews {
  invoiceId: string;
  change: Change;
}

/** As a decision that is written leaves it: what `lockBilling` would find in the same transaction. */
export function billingAfter(before: Billing, decision: Decision, changed: ChangedBilling): Billing {
  const invoices = openAfter(before.facts.invoices, decision.invoices, ({ id }) => id);
  return {
    subscription: changed.subscription,
    invoices: openAfter(before.invoices, changed.invoices, (row) => row.invoice_id),
    facts: { subscription: decision.subscription, invoices },
  };
}

/** New ones behind those that were open before. */
function openAfter<T extends { status: InvoiceFacts['status'] }>(
  before: readonly T[],
  changed: readonly T[],
  idOf: (invoice: T) => string,
): T[] {
  const all = new Map([...before, ...changed].map((invoice) => [idOf(invoice), invoice]));
  return [...all.values()].filter(({ status }) => status === 'open');
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
  const subscription = await writeSubscription(tx, before, decision, additions);
  const after = { subscription, invoices };
  const jobs = [...(additions.jobs ?? [])];
  if (!additions.isDueJob) jobs.push(...nextDue(billingAfter(before, decision, after), context));
  await recordEvents(tx, eventsOf(decision, { before, after, paymentNews }, context), jobs);
  crashPoint('billing.events-recorded');
  return after;
}

/** The job of what is due next: now, or at its time. */
function nextDue({ subscription, facts }: Billing, context: BillingContext): JobSpec[] {
  const due = decideDue(facts, decisionContextOf(context));
  const { time } = context;
  if (due.do !== 'wait') return [dueJob(subscription, time.realMs)];
  return due.at === null ? [] : [dueJob(subscription, realMsOf(due.at, time))];
}

async function writeSubscription(
  tx: Tx,
  { subscription: row, facts }: Billing,
  decision: Decision,
  additions: Additions,
): Promise<SubscriptionRow> {
  // What a decision does not change it leaves as the same object.
  const isSame = decision.subscription === facts.subscription;
  const written = isSame ? row : await writeFacts(tx, row, decision.subscription);
  const content = contentOf(row, facts, decision, additions);
  return Object.keys(content).length === 0 ? written : await writeContent(tx, row, content);
}

/** What is planned for the next period becomes the items where the decision says that it has begun. */
function contentOf(
  row: SubscriptionRow,
  { subscription: before }: Facts,
  decision: Decision,
  more: Additions,
) {
  const { pendingAmount } = decision.subscription;
  const hasBegun = before.pendingAmount !== null && pendingAmount === null;
  const items = more.items ?? (hasBegun ? row.pending_items : null);
  const pending = pendingAmount === null ? null : (more.pendingItems ?? row.pending_items);
  return {
    ...(items === null ? {} : { items: JSON.stringify(items) }),
    ...(pending === row.pending_items ? {} : { pending_items: pending && JSON.stringify(pending) }),
    ...(more.metadata === undefined ? {} : { metadata: more.metadata }),
  };
}
