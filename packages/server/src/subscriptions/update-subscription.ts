import type { InvoicePreview, SubscriptionUpdateInput } from '@florin/contract/schemas';
import { listPaidInPeriod } from '../invoices/billing/index.ts';
import { factsOfInvoice } from '../invoices/decide/index.ts';
import { presentInterval } from '../invoices/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { encodeId } from '../tenancy/index.ts';
import type { Billing } from './billing.ts';
import { checkItems, isSameItems } from './check-items.ts';
import { decideUpdate, previewUpdate, type Update } from './decide/update.ts';
import {
  type BillingContext,
  billingContext,
  decisionContextOf,
  type StoreCaller,
  type SubscriptionDeps,
} from './deps.ts';
import { methodOf } from './find-method.ts';
import { getSubscription, type SubscriptionRow } from './queries.ts';
import { isFinal } from './states.ts';
import { withdrawWaiting } from './withdraw-charges.ts';
import { type Additions, lockBilling, writeDecision } from './write-decisions.ts';

interface UpdateRequest {
  id: string;
  body: SubscriptionUpdateInput;
}

/** @throws Fail `resource_not_found`, `forbidden`, `invalid_request` */
export async function updateSubscription(
  deps: SubscriptionDeps,
  caller: StoreCaller,
  { id, body }: UpdateRequest,
): Promise<SubscriptionRow> {
  return await withUpdate(deps, caller, { id, body }, async ({ tx, billing, context, update, additions }) => {
    const withdrawn = update.methodId === undefined ? [] : await withdrawWaiting(tx, billing, context);
    const whole = { ...update, withdrawn: withdrawn.map(({ invoiceId }) => invoiceId) };
    const decision = decideUpdate(billing.facts, whole, decisionContextOf(context));
    const toWrite = { before: billing, decision, context, additions: { ...additions, withdrawn } };
    return (await writeDecision(tx, toWrite)).subscription;
  });
}

/** Previews the invoice that an update would open: at once, or else with the next period. Changes nothing. */
export async function previewSubscriptionUpdate(
  deps: SubscriptionDeps,
  caller: StoreCaller,
  request: UpdateRequest,
): Promise<InvoicePreview> {
  return await withUpdate(deps, caller, request, async ({ billing, context, update }) => {
    const { subscription: row } = billing;
    const facts = previewUpdate(billing.facts, update, decisionContextOf(context));
    const due = Number(facts.amount);
    return {
      object: 'invoice' as const,
      subscription_id: encodeId('subscription', row.subscription_id),
      customer: encodeId('customer', row.customer_id),
      amount_due: due,
      amount_paid: 0,
      amount_remaining: due,
      currency: row.currency,
      payment_status: facts.paymentStatus,
      billing_reason: facts.reason,
      ...presentInterval(row.interval),
      period_start: facts.periodStart,
      period_end: facts.periodEnd,
      due_date: facts.dueDate,
      created: facts.createdAt,
    };
  });
}

interface Prepared {
  tx: Tx;
  billing: Billing;
  context: BillingContext;
  update: Update;
  additions: Additions;
}

async function withUpdate<T>(
  deps: SubscriptionDeps,
  caller: StoreCaller,
  { id, body }: UpdateRequest,
  use: (prepared: Prepared) => Promise<T>,
): Promise<T> {
  const { merchant_id, subscription_id } = await getSubscription(deps.db, caller, id);
  const context = await billingContext(deps, caller);
  return await transact(deps.db, async (tx) => {
    const locked = await lockBilling(tx, merchant_id, subscription_id);
    const { status } = locked.subscription;
    if (isFinal(status))
      throw new Fail('invalid_request', `A subscription that is ${status} cannot be changed.`);
    const { cancel_at: cancelAt } = body;
    if (cancelAt !== undefined && cancelAt !== null && cancelAt <= context.time.seconds)
      throw new Fail('invalid_request', { message: 'cancel_at must be in the future.', param: 'cancel_at' });
    const methodId = await newMethod(tx, locked.subscription, body.payment_method_id);
    const { update: items, additions } = newItems(locked.subscription, body);
    const billing = items === undefined ? locked : await withCovering(tx, locked);
    const update: Update = {
      ...(items === undefined ? {} : { items }),
      ...(methodId === undefined ? {} : { methodId }),
      ...(cancelAt === undefined ? {} : { cancelAt }),
      changesMore: body.metadata !== undefined,
    };
    return await use({ tx, billing, context, update, additions: { ...additions, metadata: body.metadata } });
  });
}

/** Adds the paid invoices of the period, because a smaller sum may credit a part of them. */
async function withCovering(tx: Tx, billing: Billing): Promise<Billing> {
  const { merchant_id: merchantId, subscription_id: subscriptionId } = billing.subscription;
  const period = { merchantId, subscriptionId, periodEnd: billing.facts.subscription.periodEnd };
  const rows = await listPaidInPeriod(tx, period);
  // Paid invoices have no open pages, so the page's state is not read.
  const paidInPeriod = rows.map((row) => factsOfInvoice(row, 'paid'));
  return { ...billing, invoices: [...billing.invoices, ...rows], facts: { ...billing.facts, paidInPeriod } };
}

/** @returns undefined if the method does not change. @throws Fail */
async function newMethod(tx: Tx, row: SubscriptionRow, id: string | undefined): Promise<string | undefined> {
  const methodId = await methodOf(tx, id, row);
  return methodId === null || methodId === row.payment_method_id ? undefined : methodId;
}

/** Equal items keep their ids, so that they do not count as a change. @throws Fail with param `items` */
function newItems(
  row: SubscriptionRow,
  { items: given, proration = 'now' }: SubscriptionUpdateInput,
): { update: Update['items']; additions: Additions } {
  if (given === undefined) return { update: undefined, additions: {} };
  if (row.status === 'incomplete') {
    const message = 'The items of a subscription can change once its first payment is made.';
    throw new Fail('invalid_request', { message, param: 'items' });
  }
  const { items, amount } = checkItems(given, row);
  if (
    isSameItems(items, row.pending_items ?? row.items) &&
    (row.pending_items === null || proration === 'period_end')
  )
    return { update: undefined, additions: {} };
  return {
    update: { amount, proration },
    additions: proration === 'period_end' ? { pendingItems: items } : { items: keepIds(items, row) },
  };
}

const keepIds = (items: SubscriptionRow['items'], row: SubscriptionRow) =>
  isSameItems(items, row.items) ? row.items : items;
