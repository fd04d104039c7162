import { type Change, recordEvents } from '../events/index.ts';
import { openInvoicesLock } from '../invoices/billing/index.ts';
import { factsOfInvoice, type InvoiceFacts, type PageState } from '../invoices/decide/index.ts';
import type { InvoiceRow } from '../invoices/index.ts';
import type { InvoicePageState } from '../payments/index.ts';
import { lockInvoicePages } from '../payments/invoice-pages/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { pipeline } from '../platform/db/statements/index.ts';
import { invariant } from '../platform/fail.ts';
import type { JobSpec } from '../platform/jobs/index.ts';
import { crashPoint } from '../platform/jobs/index.ts';
import type { Billing, ChangedBilling } from './billing.ts';
import { eventsOf } from './billing-events.ts';
import { subscriptionsLock, writeContent, writeFacts } from './billing-queries.ts';
import { decideDue } from './decide/due.ts';
import type { Decision, Facts } from './decide/facts.ts';
import { type BillingContext, decisionContextOf } from './deps.ts';
import { dropMandates } from './drop-mandates.ts';
import { dueJob, realMsOf } from './jobs.ts';
import { mailJobs } from './mail-subscription.ts';
import type { SubscriptionRow } from './queries.ts';
import { factsOfSubscription, subscriptionColumns } from './rows.ts';
import type { StoredItem } from './tables.ts';
import { closePage, preparePage, writeInvoices } from './write-invoices.ts';

/** Locks the subscription, its open invoices and the payments of their pages, in this order. */
export async function lockBilling(tx: Tx, merchantId: string, subscriptionId: string): Promise<Billing> {
  const [billing] = await lockBillings(tx, merchantId, [subscriptionId]);
  if (billing === undefined) throw noSubscription(subscriptionId);
  return billing;
}

/**
 * As `lockBilling` for several subscriptions of a merchant. Each kind of rows is locked in the order of its ids.
 *
 * @returns them in the order of the given ids
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
  return state;
}

/** Additions of a command to a decision. */
export interface Additions {
  items?: StoredItem[] | undefined;
  pendingItems?: StoredItem[] | undefined;
  metadata?: SubscriptionRow['metadata'] | undefined;
  /** The payment of the change's charge, with its event if it has one. */
  charge?: { invoiceId: string; paymentId: string; change: Change | undefined };
  /** Charges that were withdrawn unsent for the change. */
  withdrawn?: readonly WithdrawnCharge[] | undefined;
  /** Further jobs of the change. */
  jobs?: readonly JobSpec[];
  /** The change is made by the due job, which plans its next run itself. */
  isDueJob?: boolean;
}

export interface WithdrawnCharge {
  invoiceId: string;
  paymentId: string;
  change: Change;
}

/** A decision about a locked subscription, before it is written. */
export interface DecisionToWrite {
  before: Billing;
  decision: Decision;
  context: BillingContext;
  additions?: Additions;
}

/** An event of a payment, with the invoice that it pays. */
export interface PaymentEvent {
  invoiceId: string;
  change: Change;
}

/** The state after a written decision, as `lockBilling` would read it in the same transaction. */
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

/** The open invoices after a change: new ones follow those that were open before. */
function openAfter<T extends { status: InvoiceFacts['status'] }>(
  before: readonly T[],
  changed: readonly T[],
  idOf: (invoice: T) => string,
): T[] {
  const all = new Map([...before, ...changed].map((invoice) => [idOf(invoice), invoice]));
  return [...all.values()].filter(({ status }) => status === 'open');
}

/** Writes a decision, its events in their order, and the job for the next deadline. */
export async function writeDecision(tx: Tx, toWrite: DecisionToWrite): Promise<ChangedBilling> {
  const [changed] = await writeDecisions(tx, [toWrite]);
  invariant(changed !== undefined, 'each decision that is written has changed its subscription');
  return changed;
}

/**
 * As `writeDecision` for several subscriptions of a merchant, with one statement per kind of rows. Pages are opened and
 * closed one by one.
 *
 * @returns the updated subscriptions, in the order of the decisions
 */
export async function writeDecisions(tx: Tx, list: readonly DecisionToWrite[]): Promise<ChangedBilling[]> {
  if (list.length === 0) return [];
  const prepared = [];
  for (const toWrite of list) prepared.push(await preparePages(tx, toWrite));
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
  const mails = await mailJobs(
    tx,
    changed.map((after, i) => mailedChange(list[i], after)),
  );
  const followUps = prepared.map(({ toWrite, paymentEvents }, i) => {
    const after = changed[i];
    invariant(after !== undefined, 'each decision that is written has changed its subscription');
    return eventsAndJobsOf(toWrite, after, { paymentEvents, mails: mails[i] ?? [] });
  });
  await recordEvents(
    tx,
    followUps.flatMap(({ events }) => events),
    followUps.flatMap(({ jobs }) => jobs),
  );
  await dropMandates(
    tx,
    list.map(({ before, context }, i) => {
      const after = subscriptions[i];
      invariant(after !== undefined, 'each decision that is written has changed its subscription');
      return { before: before.subscription, after, context };
    }),
  );
  crashPoint('billing.events-recorded');
  return changed;
}

/** Closes, opens and reprices the pages of a decision's invoices. */
async function preparePages(tx: Tx, toWrite: DecisionToWrite) {
  const { before, decision, context, additions: { charge, withdrawn = [] } = {} } = toWrite;
  const paymentEvents: PaymentEvent[] = [...withdrawn];
  if (charge?.change !== undefined)
    paymentEvents.push({ invoiceId: charge.invoiceId, change: charge.change });
  const invoices = [];
  for (const facts of decision.invoices) {
    const invoice = { known: before.invoices.find((row) => row.invoice_id === facts.id), facts };
    const change = await closePage(tx, invoice, context);
    if (change !== undefined) paymentEvents.push({ invoiceId: facts.id, change });
    const chargePaymentId = charge?.invoiceId === facts.id ? charge.paymentId : undefined;
    invoices.push(await preparePage(tx, invoice, before.subscription, { context, chargePaymentId }));
  }
  return { toWrite, invoices, paymentEvents };
}

function mailedChange(toWrite: DecisionToWrite | undefined, { subscription, invoices }: ChangedBilling) {
  invariant(toWrite !== undefined, 'each decision that is written has changed its subscription');
  const { before, context, additions: { charge } = {} } = toWrite;
  const isPaid = invoices.some(({ invoice_id: id, status }) => id === charge?.invoiceId && status === 'paid');
  return {
    before: before.subscription,
    after: subscription,
    paid: isPaid ? charge : undefined,
    time: context.time,
  };
}

/** The events of a decision in their order, and its jobs, with the trace of its cause. */
function eventsAndJobsOf(
  { before, decision, context, additions = {} }: DecisionToWrite,
  after: ChangedBilling,
  { paymentEvents, mails }: { paymentEvents: readonly PaymentEvent[]; mails: readonly JobSpec[] },
): { events: Change[]; jobs: JobSpec[] } {
  const { trace } = context;
  const jobs = [...(additions.jobs ?? []), ...mails];
  if (!additions.isDueJob) jobs.push(...nextDue(billingAfter(before, decision, after), context));
  return {
    events: eventsOf(decision, { before, after, paymentEvents }, context).map((event) => ({
      ...event,
      trace,
    })),
    jobs: jobs.map((job) => ({ ...job, trace })),
  };
}

/** The due job: now, or at the next deadline. */
function nextDue({ subscription, facts }: Billing, context: BillingContext): JobSpec[] {
  const due = decideDue(facts, decisionContextOf(context));
  const { time } = context;
  if (due.do !== 'wait') return [dueJob(subscription, time.realMs)];
  return due.at === null ? [] : [dueJob(subscription, realMsOf(due.at, time))];
}

/** @returns the updated subscriptions */
async function writeSubscriptions(tx: Tx, list: readonly DecisionToWrite[]): Promise<SubscriptionRow[]> {
  // A decision that does not change the subscription returns the same object.
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

/** The planned items become the items once the next period has begun. */
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
