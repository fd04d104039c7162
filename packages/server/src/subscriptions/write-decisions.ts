import { type Change, recordEvents } from '../events/index.ts';
import {
  factsOfInvoice,
  type InvoiceFacts,
  type InvoiceRow,
  openInvoicesLock,
  type PageState,
} from '../invoices/index.ts';
import { type InvoicePageState, lockInvoicePages } from '../payments/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { pipeline } from '../platform/db/index.ts';
import { invariant } from '../platform/fail.ts';
import type { JobSpec } from '../platform/jobs/index.ts';
import { crashPoint } from '../platform/jobs/index.ts';
import type { Billing, ChangedBilling } from './billing.ts';
import { eventsOf } from './billing-events.ts';
import { subscriptionsLock, writeContent, writeFacts } from './billing-queries.ts';
import { decideDue } from './decide/due.ts';
import type { Decision, Facts } from './decide/facts.ts';
import { type BillingContext, decisionContextOf } from './deps.ts';
import { dueJob, realMsOf } from './jobs.ts';
import type { SubscriptionRow } from './queries.ts';
import { factsOfSubscription, subscriptionColumns } from './rows.ts';
import type { StoredItem } from './tables.ts';
import { closePage, preparePage, writeInvoices } from './write-invoices.ts';

const PAGES: Record<InvoicePageState, PageState> = {
  open: 'open',
  busy: 'money',
  frozen: 'frozen',
  paid: 'paid',
  over: 'expired',
};

/** Locks the subscription, its open invoices and the payments of their pages, in this order. */
export async function lockBilling(tx: Tx, merchantId: string, subscriptionId: string): Promise<Billing> {
  const [billing] = await lockBillings(tx, merchantId, [subscriptionId]);
  if (billing === undefined) throw noSubscription(subscriptionId);
  return billing;
}

/**
 * As `lockBilling` of several subscriptions of a merchant, each kind of rows in the order of its ids.
 *
 * @returns them in the order in which they are asked for
 */
export async function lockBillings(
  tx: Tx,
  merchantId: string,
  subscriptionIds: readonly string[],
): Promise<Billing[]> {
  const [subscriptions, rows] = await pipeline(
    tx,
    subscriptionsLock(merchantId, subscriptionIds),
    openInvoicesLock(merchantId, subscriptionIds),
  );
  const pages = await lockInvoicePages(
    tx,
    merchantId,
    rows.flatMap(({ page_payment_id: id }) => id ?? []),
  );
  const known = new Map(subscriptions.map((row) => [row.subscription_id, row]));
  const invoicesOf = Map.groupBy(rows, (row) => row.subscription_id);
  return subscriptionIds.map((id) => {
    const subscription = known.get(id);
    if (subscription === undefined) throw noSubscription(id);
    const invoices = invoicesOf.get(id) ?? [];
    const facts = {
      subscription: factsOfSubscription(subscription),
      invoices: invoices.map((row) => factsOfInvoice(row, pageOf(row, pages))),
    };
    return { subscription, invoices, facts };
  });
}

const noSubscription = (subscriptionId: string) => new Error(`there is no subscription ${subscriptionId}`);

function pageOf(
  { page_payment_id: paymentId }: InvoiceRow,
  pages: ReadonlyMap<string, InvoicePageState>,
): PageState {
  if (paymentId === null) return 'none';
  const state = pages.get(paymentId);
  if (state === undefined) throw new Error(`there is no payment ${paymentId}`);
  return PAGES[state];
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

/** A decision that is to be written. */
export interface Written {
  before: Billing;
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
export function billingAfter(
  before: Billing,
  decision: Decision,
  changed: ChangedBilling | undefined,
): Billing {
  invariant(changed !== undefined, 'each decision that is written has changed its subscription');
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
export async function writeDecision(tx: Tx, written: Written): Promise<ChangedBilling> {
  const [changed] = await writeDecisions(tx, [written]);
  invariant(changed !== undefined, 'each decision that is written has changed its subscription');
  return changed;
}

/**
 * As `writeDecision` of several subscriptions of a merchant: each kind of rows is one statement. Pages are opened and
 * closed one by one.
 *
 * @returns the subscriptions after it, in the order of the decisions
 */
export async function writeDecisions(tx: Tx, list: readonly Written[]): Promise<ChangedBilling[]> {
  if (list.length === 0) return [];
  const prepared = [];
  for (const written of list) prepared.push(await preparePages(tx, written));
  const rows = await writeInvoices(
    tx,
    prepared.flatMap(({ invoices }) => invoices),
  );
  crashPoint('billing.invoices-written');
  const subscriptions = await writeSubscriptions(tx, list);
  const invoicesOf = Map.groupBy(rows, (row) => row.subscription_id);
  const changed = subscriptions.map((subscription) => ({
    subscription,
    invoices: invoicesOf.get(subscription.subscription_id) ?? [],
  }));
  const news = prepared.map(({ written, paymentNews }, i) => {
    const after = changed[i];
    invariant(after !== undefined, 'each decision that is written has changed its subscription');
    return newsOf(written, after, paymentNews);
  });
  await recordEvents(
    tx,
    news.flatMap(({ events }) => events),
    news.flatMap(({ jobs }) => jobs),
  );
  crashPoint('billing.events-recorded');
  return changed;
}

/** Closes, opens and reprices the pages of a decision's invoices. */
async function preparePages(tx: Tx, written: Written) {
  const { before, decision, context, additions: { charge } = {} } = written;
  const paymentNews: PaymentNews[] = [];
  if (charge?.change !== undefined) paymentNews.push({ invoiceId: charge.invoiceId, change: charge.change });
  const invoices = [];
  for (const facts of decision.invoices) {
    const invoice = { known: before.invoices.find((row) => row.invoice_id === facts.id), facts };
    const change = await closePage(tx, invoice, context);
    if (change !== undefined) paymentNews.push({ invoiceId: facts.id, change });
    const chargePaymentId = charge?.invoiceId === facts.id ? charge.paymentId : undefined;
    invoices.push(await preparePage(tx, invoice, before.subscription, { context, chargePaymentId }));
  }
  return { written, invoices, paymentNews };
}

/** The events of a decision in their order, and its jobs, in the trace of whoever asked for it. */
function newsOf(
  { before, decision, context, additions = {} }: Written,
  after: ChangedBilling,
  paymentNews: readonly PaymentNews[],
): { events: Change[]; jobs: JobSpec[] } {
  const { trace } = context;
  const jobs = [...(additions.jobs ?? [])];
  if (!additions.isDueJob) jobs.push(...nextDue(billingAfter(before, decision, after), context));
  return {
    events: eventsOf(decision, { before, after, paymentNews }, context).map((event) => ({ ...event, trace })),
    jobs: jobs.map((job) => ({ ...job, trace })),
  };
}

/** The job of what is due next: now, or at its time. */
function nextDue({ subscription, facts }: Billing, context: BillingContext): JobSpec[] {
  const due = decideDue(facts, decisionContextOf(context));
  const { time } = context;
  if (due.do !== 'wait') return [dueJob(subscription, time.realMs)];
  return due.at === null ? [] : [dueJob(subscription, realMsOf(due.at, time))];
}

/** @returns the subscriptions as they are from now on */
async function writeSubscriptions(tx: Tx, list: readonly Written[]): Promise<SubscriptionRow[]> {
  // What a decision does not change it leaves as the same object.
  const changes = list
    .filter(({ before, decision }) => decision.subscription !== before.facts.subscription)
    .map(({ before, decision }) => ({ before: before.subscription, facts: decision.subscription }));
  await writeFacts(tx, changes);
  const rows = [];
  for (const { before, decision, additions = {} } of list) {
    const { subscription: row, facts } = before;
    const isSame = decision.subscription === facts.subscription;
    const written = isSame ? row : { ...row, ...subscriptionColumns(decision.subscription) };
    const content = contentOf(row, facts, decision, additions);
    rows.push(Object.keys(content).length === 0 ? written : await writeContent(tx, row, content));
  }
  return rows;
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
