import { recordEvents } from '../events/index.ts';
import type { InvoiceFacts } from '../invoices/decide/index.ts';
import { findInvoice } from '../invoices/index.ts';
import { findPaymentMethod } from '../payment-methods/index.ts';
import { bookCharges, completeReleased } from '../payments/charges/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { crashPoint, type Job, type JobOutcome, type JobRun } from '../platform/jobs/index.ts';
import { getMerchant } from '../stores/index.ts';
import { merchantTime } from '../tenancy/index.ts';
import type { Billing } from './billing.ts';
import { listOfMethods } from './billing-queries.ts';
import { chargeSucceeded, pagePaid } from './decide/charge.ts';
import { BillingDraft } from './decide/draft.ts';
import { decideTopUp } from './decide/mandate.ts';
import { type BillingContext, billingContext, decisionContextOf, type SubscriptionDeps } from './deps.ts';
import { lockBilling, writeDecision } from './write-decisions.ts';

/**
 * Handles a change of an invoice's payment: its page has paid it, its page has pending money or no longer has it, or
 * people have released the money of a charge.
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
    const draft = new BillingDraft(billing.facts, decisionContextOf(context));
    if (facts.page === 'paid') pagePaid(draft, invoiceId);
    await writeDecision(tx, { before: billing, decision: draft.decision, context });
  });
  crashPoint('billing.page-followed');
  return 'done';
}

/**
 * Settles the released money of a charge: it pays its invoice, in one change with all effects, or goes to `held`.
 *
 * @param released `needing`: the invoice; undefined if no invoice needs the money any more
 * @returns whether it pays the invoice
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
    const draft = new BillingDraft(billing.facts, decisionContextOf(context));
    chargeSucceeded(draft, needing.id);
    const additions = { charge: { invoiceId: needing.id, paymentId, change } };
    await writeDecision(tx, { before: billing, decision: draft.decision, context, additions });
  }
  await bookCharges(tx, merchantId, [completed]);
  return isNeeded;
}

/** A mandate can pay again: the invoices that wait for it are tried at once. */
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
      if (decision.invoices.length > 0) await writeDecision(tx, { before: billing, decision, context });
    });
  }
  return 'done';
}
