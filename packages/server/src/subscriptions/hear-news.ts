import { type Change, recordEvents } from '../events/index.ts';
import { findInvoice, freeCap, type InvoiceFacts } from '../invoices/index.ts';
import {
  type ChargeOutcome,
  chargeOutcome,
  findPaymentMethod,
  readAfterCharges,
} from '../payment-methods/index.ts';
import {
  bookCharges,
  type CompletedCharge,
  completeCharge,
  completeReleased,
  failCharge,
} from '../payments/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { crashPoint, type Job, type JobOutcome, type JobRun, joinedStep } from '../platform/jobs/index.ts';
import { getMerchant } from '../stores/index.ts';
import { merchantTime } from '../tenancy/index.ts';
import type { Billing } from './billing.ts';
import { listOfMethods } from './billing-queries.ts';
import { lockBilling, writeDecision } from './change-subscription.ts';
import { chargeFailed, chargeSeized, chargeSucceeded, pagePaid } from './charge.ts';
import { type BillingContext, billingContext, decisionContextOf, type SubscriptionDeps } from './deps.ts';
import { Draft } from './draft.ts';
import { decideTopUp } from './mandate.ts';
import { isWalletListed } from './screen-wallets.ts';

/** What is left to do for all charges that are settled together. */
interface Settled {
  wallet: ChargeOutcome['wallet'];
  /** Undefined for one that failed. */
  completed: CompletedCharge | undefined;
  context: BillingContext;
}

/** What is credited at the same time goes in one transaction. Rows that others wait for too are locked at its end. */
const settlement = joinedStep<Settled | undefined>({
  isLast: true,
  lastly: async (tx, merchantId, settled) => {
    const news = settled.filter((one) => one !== undefined);
    const last = news.at(-1);
    if (last === undefined) return;
    const wallets = news.map(({ wallet }) => wallet);
    await readAfterCharges(tx, merchantId, wallets, last.context.time);
    const completed = news.flatMap((one) => one.completed ?? []);
    await bookCharges(tx, merchantId, completed);
  },
});

/** A charge is final: its payment, its invoice and its subscription change together. */
export async function settleCharge(deps: SubscriptionDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const { merchantId } = job;
  const paymentId = String(job.payload.groupId);
  const outcome = await chargeOutcome(deps.db, merchantId, paymentId);
  if (outcome === undefined) return 'done';
  const { subscriptionId, wallet } = outcome;
  const merchant = await getMerchant(deps.db, merchantId);
  const context = await billingContext(deps, merchant);
  const isListed = outcome.status === 'succeeded' && (await isWalletListed(deps, merchant.mode, wallet));
  const change = async (tx: Tx) => {
    const billing = await lockBilling(tx, merchantId, subscriptionId);
    crashPoint('billing.charge-locked');
    return await settle(tx, billing, { paymentId, outcome, isListed, context });
  };
  // They book in the same accounts.
  const group = `${wallet.network} ${wallet.currency}`;
  await settlement(deps.db, { merchantId, group }, { run, locks: [subscriptionId], change });
  crashPoint('billing.charge-settled');
  return 'done';
}

interface Decided {
  paymentId: string;
  outcome: ChargeOutcome;
  /** The charged wallet, as it was made final. */
  isListed: boolean;
  context: BillingContext;
}

/** @returns undefined where it was settled before */
async function settle(
  tx: Tx,
  billing: Billing,
  { paymentId, outcome, isListed, context }: Decided,
): Promise<Settled | undefined> {
  const waiting = billing.facts.invoices.find(({ liveAttempt }) => liveAttempt === paymentId);
  // The invoice that waits for it; none, where that is void or paid otherwise, which it may not know yet.
  const invoiceId = waiting?.page === 'paid' ? undefined : waiting?.id;
  const key = { merchantId: billing.subscription.merchant_id, paymentId };
  const follow = async (change: Change) => {
    if (invoiceId === undefined) {
      await recordEvents(tx, [change]);
      return;
    }
    const draft = new Draft(billing.facts, decisionContextOf(context));
    if (outcome.status === 'failed') chargeFailed(draft, invoiceId, outcome.failureCode);
    else if (isListed) chargeSeized(draft, invoiceId);
    else chargeSucceeded(draft, invoiceId);
    const additions = { charge: { invoiceId, paymentId, change } };
    await writeDecision(tx, billing, { decision: draft.decision, context, additions });
  };
  const { wallet } = outcome;
  // Neither tells anything of what was told before.
  if (outcome.status === 'failed') {
    const change = await failCharge(tx, key, outcome.failureCode, context);
    if (change === undefined) return undefined;
    await follow(change);
    // It has taken nothing of its mandate's cap after all.
    if (invoiceId === undefined) await freeCap(tx, { ...key, subscriptionId: outcome.subscriptionId });
    return { wallet, completed: undefined, context };
  }
  const pulled = { txId: outcome.txId, isNeeded: invoiceId !== undefined, isListed };
  const completed = await completeCharge(tx, key, pulled, context);
  if (completed === undefined) return undefined;
  await follow(completed.change);
  return { wallet, completed, context };
}

/**
 * A payment of an invoice stands differently: its page has paid it, or money is on its way there, or no more; or people have
 * released what a charge took.
 */
export async function followPage(deps: SubscriptionDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const merchant = await getMerchant(deps.db, job.merchantId);
  const [invoiceId, paymentId] = [String(job.payload.invoiceId), String(job.payload.paymentId)];
  const invoice = await findInvoice(deps.db, job.merchantId, invoiceId);
  if (invoice === undefined) return 'done';
  const context = await billingContext(deps, merchant);
  await run.finish(async (tx) => {
    const billing = await lockBilling(tx, job.merchantId, invoice.subscription_id);
    const facts = billing.facts.invoices.find(({ id }) => id === invoiceId);
    const needing = facts?.page === 'paid' ? undefined : facts;
    const isPaid = await settleReleased(tx, billing, { paymentId, needing }, context);
    if (facts === undefined || isPaid) return;
    const draft = new Draft(billing.facts, decisionContextOf(context));
    if (facts.page === 'paid') pagePaid(draft, invoiceId);
    await writeDecision(tx, billing, { decision: draft.decision, context });
  });
  crashPoint('billing.page-followed');
  return 'done';
}

/**
 * What a charge took is released: it pays its invoice, in one change with what follows, or lies in `held`.
 *
 * @param released `needing`: the invoice; undefined where none needs the money any more
 * @returns whether the invoice is paid by it
 */
async function settleReleased(
  tx: Tx,
  billing: Billing,
  { paymentId, needing }: { paymentId: string; needing: InvoiceFacts | undefined },
  context: BillingContext,
): Promise<boolean> {
  const { merchant_id: merchantId } = billing.subscription;
  const completed = await completeReleased(tx, { merchantId, paymentId }, needing?.amount, context);
  if (completed === undefined) return false;
  const { change, isNeeded } = completed;
  if (needing === undefined || !isNeeded) await recordEvents(tx, [change]);
  else {
    const draft = new Draft(billing.facts, decisionContextOf(context));
    chargeSucceeded(draft, needing.id);
    const additions = { charge: { invoiceId: needing.id, paymentId, change } };
    await writeDecision(tx, billing, { decision: draft.decision, context, additions });
  }
  await bookCharges(tx, merchantId, [completed]);
  return isNeeded;
}

/** A mandate can pay again: whatever waits for its money is tried at once. */
export async function retryCharges(deps: SubscriptionDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const { merchantId } = job;
  const methodId = String(job.payload.paymentMethodId);
  const method = await findPaymentMethod(deps.db, merchantId, methodId);
  if (method?.status !== 'active') return 'done';
  const merchant = await getMerchant(deps.db, merchantId);
  const begun = await billingContext(deps, merchant);
  for (const { subscription_id } of await listOfMethods(deps.db, merchantId, [methodId])) {
    const context = { ...begun, time: merchantTime(deps, merchant) };
    await run.step(async (tx) => {
      const billing = await lockBilling(tx, merchantId, subscription_id);
      if (billing.facts.subscription.methodId !== methodId) return;
      const decision = decideTopUp(billing.facts, decisionContextOf(context));
      if (decision.invoices.length > 0) await writeDecision(tx, billing, { decision, context });
    });
  }
  return 'done';
}
