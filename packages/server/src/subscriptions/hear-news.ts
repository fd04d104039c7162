import { bookCharges, type CompletedCharge, completeCharge, failCharge } from '../checkout/index.ts';
import { type Change, recordEvents } from '../events/index.ts';
import { findInvoice } from '../invoices/index.ts';
import {
  type ChargeOutcome,
  chargeOutcome,
  findPaymentMethod,
  readAfterCharge,
} from '../payment-methods/index.ts';
import { crashPoint } from '../platform/crash-point.ts';
import type { Tx } from '../platform/db.ts';
import { type Job, type JobOutcome, type JobRun, joinedStep } from '../platform/jobs/index.ts';
import { occasionOf } from '../platform/occasion.ts';
import { getMerchant } from '../stores/index.ts';
import { listOfMethods } from './billing-queries.ts';
import { type Billing, lockBilling, writeDecision } from './change-subscription.ts';
import { chargeFailed, chargeSucceeded, pagePaid } from './charge.ts';
import { type BillingContext, billingContext, occasionFor, type SubscriptionDeps } from './deps.ts';
import { Draft } from './draft.ts';
import { decideTopUp } from './mandate.ts';

/** What is credited at the same time goes in one transaction, and in one journal's locks. */
const settlement = joinedStep<CompletedCharge | undefined>({
  isLast: true,
  lastly: (tx, charges) =>
    bookCharges(
      tx,
      charges.filter((charge) => charge !== undefined),
    ),
});

/** A charge is final: its payment, its invoice and its subscription change together. */
export async function settleCharge(deps: SubscriptionDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const { merchantId } = job;
  const paymentId = String(job.payload.groupId);
  const outcome = await chargeOutcome(deps.db, merchantId, paymentId);
  if (outcome === undefined) return 'done';
  const { subscriptionId, wallet } = outcome;
  const context = await billingContext(deps, await getMerchant(deps.db, merchantId));
  const change = async (tx: Tx) => {
    const billing = await lockBilling(tx, merchantId, subscriptionId);
    crashPoint('billing.charge-locked');
    return await settle(tx, billing, { paymentId, outcome, context });
  };
  // Charges of one network and token book in the same accounts.
  const key = `${merchantId} ${wallet.network} ${wallet.currency}`;
  await settlement(deps.db, key, { run, locks: [subscriptionId], change });
  crashPoint('billing.charge-settled');
  return 'done';
}

interface Settled {
  paymentId: string;
  outcome: ChargeOutcome;
  context: BillingContext;
}

/** @returns what is to be booked; undefined: nothing */
async function settle(
  tx: Tx,
  billing: Billing,
  { paymentId, outcome, context }: Settled,
): Promise<CompletedCharge | undefined> {
  // The invoice that waits for it; none, where that is paid otherwise or void.
  const invoiceId = billing.invoices.find((row) => row.live_attempt === paymentId)?.invoice_id;
  const key = { merchantId: billing.subscription.merchant_id, paymentId };
  const follow = async (change: Change) => {
    const jobs = [await readAfterCharge(tx, { ...key, wallet: outcome.wallet }, context.occasion)];
    if (invoiceId === undefined) {
      await recordEvents(tx, [change], jobs);
      return;
    }
    const draft = new Draft(billing.facts, occasionFor(context));
    if (outcome.status === 'succeeded') chargeSucceeded(draft, invoiceId);
    else chargeFailed(draft, invoiceId, outcome.failureCode);
    const additions = { charge: { invoiceId, paymentId, change }, jobs };
    await writeDecision(tx, billing, { decision: draft.decision, context, additions });
  };
  // Neither tells anything of what was told before.
  if (outcome.status === 'failed') {
    const change = await failCharge(tx, key, outcome.failureCode, context);
    if (change !== undefined) await follow(change);
    return undefined;
  }
  const pulled = { txId: outcome.txId, isNeeded: invoiceId !== undefined };
  const completed = await completeCharge(tx, key, pulled, context);
  if (completed !== undefined) await follow(completed.change);
  return completed;
}

/** The page of an invoice stands differently: it has paid it, or money for it is on its way, or no more. */
export async function followPage(deps: SubscriptionDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const merchant = await getMerchant(deps.db, job.merchantId);
  const invoiceId = String(job.payload.invoiceId);
  const invoice = await findInvoice(deps.db, job.merchantId, invoiceId);
  if (invoice === undefined) return 'done';
  const context = await billingContext(deps, merchant);
  await run.finish(async (tx) => {
    const billing = await lockBilling(tx, job.merchantId, invoice.subscription_id);
    const facts = billing.facts.invoices.find(({ id }) => id === invoiceId);
    if (facts === undefined) return;
    const draft = new Draft(billing.facts, occasionFor(context));
    if (facts.page === 'paid') pagePaid(draft, invoiceId);
    await writeDecision(tx, billing, { decision: draft.decision, context });
  });
  crashPoint('billing.page-followed');
  return 'done';
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
    const context = { ...begun, occasion: occasionOf(deps, merchant) };
    await run.step(async (tx) => {
      const billing = await lockBilling(tx, merchantId, subscription_id);
      if (billing.facts.subscription.methodId !== methodId) return;
      const decision = decideTopUp(billing.facts, occasionFor(context));
      if (decision.invoices.length > 0) await writeDecision(tx, billing, { decision, context });
    });
  }
  return 'done';
}
