import { isCurrency } from '@florin/contract/currencies';
import type { Subscription, SubscriptionInput } from '@florin/contract/schemas';
import { newPageSecret, normalPageUrls, payableOptions } from '../checkout/index.ts';
import { checkExternalId, ensureCustomer, findCustomerId } from '../customers/index.ts';
import { findInvoice } from '../invoices/index.ts';
import { bodyDigest, claimKey } from '../platform/db/guards/index.ts';
import { newId } from '../platform/db/ids/index.ts';
import type { Db, Tx } from '../platform/db/index.ts';
import { transact } from '../platform/db/index.ts';
import { Fail, invalidParam, invariant } from '../platform/fail.ts';
import type { Answer, Caller } from '../platform/http/index.ts';
import { crashPoint } from '../platform/jobs/index.ts';
import { encodeId } from '../tenancy/index.ts';
import { insertSubscription } from './billing-queries.ts';
import { checkItems } from './check-items.ts';
import { decideCreation } from './decide/creation.ts';
import { boundary } from './decide/periods.ts';
import { type BillingContext, billingContext, decisionContextOf, type SubscriptionDeps } from './deps.ts';
import { methodOf } from './find-method.ts';
import { subscribeUrl } from './page-token.ts';
import { presentSubscription } from './present.ts';
import { getSubscription, type SubscriptionRow } from './queries.ts';
import { subscriptionColumns } from './rows.ts';
import type { StoredItem } from './tables.ts';
import { writeDecision } from './write-decisions.ts';

const OPERATION = 'subscription.create';

export interface CreateRequest {
  caller: Caller;
  body: SubscriptionInput;
  idempotencyKey: string;
}

/**
 * Creates a subscription with its first invoice. A refused request does not bind its idempotency key, because the claim
 * is rolled back too.
 *
 * @throws Fail `invalid_request`, `conflict`
 */
export async function createSubscription(
  deps: SubscriptionDeps,
  request: CreateRequest,
): Promise<{ subscription: SubscriptionRow; replayed: boolean }> {
  const { caller, body, idempotencyKey } = request;
  const { merchantId, storeId } = caller;
  const context = await billingContext(deps, caller);
  // Rates are read before the transaction. The result matters only if the idempotency key is new.
  const unpayable = await findUnpayable(deps, request);
  const subscriptionId = newId();
  const claim = {
    merchantId,
    storeId,
    operation: OPERATION,
    key: idempotencyKey,
    digest: bodyDigest(body),
    resourceId: subscriptionId,
    nowSeconds: context.time.seconds,
  };
  crashPoint('subscription.before-transaction');
  const made = await transact(deps.db, async (tx) => {
    const key = await claimKey(tx, claim);
    crashPoint('subscription.key-claimed');
    if (!key.first) return key.resourceId;
    if (unpayable !== undefined) throw unpayable;
    return await make(tx, request, { subscriptionId, context });
  });
  crashPoint('subscription.after-commit');
  if (typeof made !== 'string') return { subscription: made, replayed: false };
  return {
    subscription: await getSubscription(deps.db, caller, encodeId('subscription', made)),
    replayed: true,
  };
}

/** The error if no token can pay such a sum now. */
async function findUnpayable(
  deps: SubscriptionDeps,
  { caller, body }: CreateRequest,
): Promise<Fail | undefined> {
  try {
    const { amount } = read(body);
    if (amount > 0n) await payableOptions(deps, caller, { amount: Number(amount), currency: body.currency });
    return undefined;
  } catch (error) {
    if (!(error instanceof Fail)) throw error;
    if (error.details.param !== 'amount') return error;
    return invalidParam('items', error.details.message);
  }
}

/** @throws Fail `invalid_request` */
function read(body: SubscriptionInput): {
  items: StoredItem[];
  amount: bigint;
  interval: SubscriptionRow['interval'];
} {
  if (!isCurrency(body.currency))
    throw invalidParam('currency', `${body.currency} is no ISO 4217 currency, USDT or USDC.`);
  const interval = body.items[0]?.price_data.recurring.interval;
  invariant(interval !== undefined, 'the schema lets no empty list through');
  return { ...checkItems(body.items, { currency: body.currency, interval }), interval };
}

async function make(
  tx: Tx,
  { caller, body }: CreateRequest,
  { subscriptionId, context }: { subscriptionId: string; context: BillingContext },
): Promise<SubscriptionRow> {
  const { merchantId, storeId } = caller;
  const now = context.time.seconds;
  checkExternalId(body.customer, 'customer');
  const urls = normalPageUrls(body, caller.mode);
  const { items, amount, interval } = read(body);
  checkTimes(body, interval, now);
  const customerId = await customerOf(tx, merchantId, body, now);
  const payer = { merchant_id: merchantId, customer_id: customerId, interval };
  const methodId = await methodOf(tx, body.payment_method_id, payer);
  const creation = {
    amount,
    interval,
    methodId,
    trialDays: body.trial_period_days ?? 0,
    anchor: body.billing_cycle_anchor ?? null,
    cancelAt: body.cancel_at ?? null,
  };
  const decision = decideCreation(creation, decisionContextOf(context));
  const { billed_levels: ranges, ...columns } = subscriptionColumns(decision.subscription);
  const subscription = await insertSubscription(tx, {
    ...columns,
    billed_levels: ranges && JSON.stringify(ranges),
    merchant_id: merchantId,
    subscription_id: subscriptionId,
    store_id: storeId,
    customer_id: customerId,
    customer: body.customer,
    currency: body.currency,
    description: body.description ?? null,
    items: JSON.stringify(items),
    pending_items: null,
    success_url: urls.success_url ?? null,
    cancel_url: urls.cancel_url ?? null,
    page_token: newPageSecret(),
    metadata: body.metadata ?? {},
    created_at: now,
  });
  crashPoint('subscription.inserted');
  const billing = {
    subscription,
    invoices: [],
    facts: { subscription: decision.subscription, invoices: [] },
  };
  return (await writeDecision(tx, { before: billing, decision, context })).subscription;
}

/** @throws Fail `invalid_request` with the name of the field */
function checkTimes(body: SubscriptionInput, interval: SubscriptionRow['interval'], now: number): void {
  const { billing_cycle_anchor: anchor, trial_period_days: trialDays = 0, cancel_at: cancelAt } = body;
  if (anchor !== undefined) {
    if (trialDays > 0)
      throw invalidParam('billing_cycle_anchor', 'With a trial, periods begin where it ends.');
    if (anchor <= now || anchor > boundary(now, interval, 1))
      throw invalidParam(
        'billing_cycle_anchor',
        `billing_cycle_anchor must be in the future, by one ${interval} at most.`,
      );
  }
  if (cancelAt !== undefined && cancelAt <= now)
    throw invalidParam('cancel_at', 'cancel_at must be in the future.');
}

async function customerOf(
  tx: Tx,
  merchantId: string,
  body: SubscriptionInput,
  nowSeconds: number,
): Promise<string> {
  const { customer: externalId, customer_email: email, customer_name: name, customer_phone: phone } = body;
  await ensureCustomer(tx, { merchantId, externalId, email, name, phone, nowSeconds });
  const customerId = await findCustomerId(tx, merchantId, externalId);
  invariant(customerId !== undefined, 'a customer who is named exists');
  return customerId;
}

/** The response to its creation, with the page for the first payment as long as the payer has something to do there. */
export async function presentCreated(
  db: Db,
  { subscription, replayed }: { subscription: SubscriptionRow; replayed: boolean },
  publicUrl: string,
): Promise<Answer<Subscription>> {
  const body = presentSubscription(subscription);
  return (await needsPayer(db, subscription))
    ? { body: { ...body, checkout_url: subscribeUrl(subscription, publicUrl) }, replayed }
    : { body, replayed };
}

/** Whether nothing is paid or authorised yet, and no charge of a mandate is due. */
async function needsPayer(db: Db, row: SubscriptionRow): Promise<boolean> {
  if (row.status !== 'incomplete') return false;
  if (row.payment_method_id === null || row.latest_invoice_id === null) return true;
  const first = await findInvoice(db, row.merchant_id, row.latest_invoice_id);
  return first?.session_id !== null;
}
