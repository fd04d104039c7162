import { completeCharge, failCharge } from '../checkout/index.ts';
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
import type { Job, JobOutcome, JobRun } from '../platform/jobs/index.ts';
import { occasionOf } from '../platform/occasion.ts';
import { getMerchant } from '../stores/index.ts';
import { listOfMethods } from './billing-queries.ts';
import { type Billing, lockBilling, writeDecision } from './change-subscription.ts';
import { chargeFailed, chargeSucceeded, pagePaid } from './charge.ts';
import { type BillingContext, billingContext, occasionFor, type SubscriptionDeps } from './deps.ts';
import { Draft } from './draft.ts';
import { decideTopUp } from './mandate.ts';

/** A charge is final: its payment, its invoice and its subscription change together. */
export async function settleCharge(deps: SubscriptionDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const { merchantId } = job;
  const paymentId = String(job.payload.groupId);
  const outcome = await chargeOutcome(deps.db, merchantId, paymentId);
  if (outcome === undefined) return 'done';
  const context = await billingContext(deps, await getMerchant(deps.db, merchantId));
  await run.finish(async (tx) => {
    const billing = await lockBilling(tx, merchantId, outcome.subscriptionId);
    crashPoint('billing.charge-locked');
    await settle(tx, billing, { paymentId, outcome, context });
  });
  crashPoint('billing.charge-settled');
  return 'done';
}

interface Settled {
  paymentId: string;
  outcome: ChargeOutcome;
  context: BillingContext;
}

async function settle(tx: Tx, billing: Billing, { paymentId, outcome, context }: Settled) {
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
  if (outcome.status === 'succeeded') {
    const isNeeded = invoiceId !== undefined;
    await completeCharge(tx, key, { txId: outcome.txId, isNeeded, follow }, context);
    return;
  }
  const change = await failCharge(tx, key, outcome.failureCode, context);
  if (change !== undefined) await follow(change);
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
