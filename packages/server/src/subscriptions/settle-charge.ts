import { type Change, recordEvents } from '../events/index.ts';
import { freeCap } from '../invoices/billing/index.ts';
import { type ChargeOutcome, chargeOutcome, scheduleWalletReads } from '../payment-methods/charges/index.ts';
import { bookCharges, endCharges } from '../payments/charges/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { batchStep, crashPoint, type Job, type JobOutcome, type JobRun } from '../platform/jobs/index.ts';
import { getMerchant } from '../stores/index.ts';
import type { Billing } from './billing.ts';
import { chargeFailed, chargeSeized, chargeSucceeded } from './decide/charge.ts';
import { BillingDraft } from './decide/draft.ts';
import { type BillingContext, billingContext, decisionContextOf, type SubscriptionDeps } from './deps.ts';
import { isWalletSanctioned } from './screen-wallets.ts';
import { type DecisionToWrite, lockBillings, writeDecisions } from './write-decisions.ts';

/** A charge to settle. */
interface Settlement {
  merchantId: string;
  paymentId: string;
  outcome: ChargeOutcome;
  /** Whether the charged wallet was sanctioned when the charge became final. */
  isSanctioned: boolean;
  context: BillingContext;
}

/** Charges that become final at the same time are settled in one transaction. */
const settleStep = batchStep<Settlement, boolean>({
  isLast: true,
  locksOf: ({ outcome }) => [outcome.subscriptionId],
  change: settleAll,
});

/** Settles a final charge: its payment, invoice and subscription change in one transaction. */
export async function settleCharge(deps: SubscriptionDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const { merchantId } = job;
  const paymentId = String(job.payload.groupId);
  const outcome = await chargeOutcome(deps.db, merchantId, paymentId);
  if (outcome === undefined) return 'done';
  const { wallet } = outcome;
  const merchant = await getMerchant(deps.db, merchantId);
  const context = await billingContext(deps, merchant);
  const isSanctioned =
    outcome.status === 'succeeded' && (await isWalletSanctioned(deps, merchant.mode, wallet));
  // Charges of one merchant, network and token book in the same accounts.
  const key = `${merchantId} ${wallet.network} ${wallet.currency}`;
  await settleStep(deps.db, key, { run, item: { merchantId, paymentId, outcome, isSanctioned, context } });
  crashPoint('billing.charge-settled');
  return 'done';
}

/** A charge settled by this transaction. */
interface Settled extends Settlement {
  billing: Billing;
  /** The invoice that waits for the charge; undefined if that is void or already paid. */
  invoiceId: string | undefined;
  /** The event of its payment. */
  change: Change;
}

/** @returns for each charge whether this call settled it; false if it was settled before */
async function settleAll(tx: Tx, settlements: readonly Settlement[]): Promise<boolean[]> {
  const last = settlements.at(-1);
  if (last === undefined) return [];
  const { merchantId } = last;
  const ids = settlements.map(({ outcome }) => outcome.subscriptionId);
  const billings = await lockBillings(tx, merchantId, ids);
  crashPoint('billing.charge-locked');
  const withInvoices = settlements.map((one, i) => ({
    ...one,
    invoiceId: waitingInvoice(billings[i], one.paymentId),
  }));
  const charges = await endCharges(
    tx,
    merchantId,
    withInvoices.map(({ paymentId, outcome, isSanctioned, context, invoiceId }) => ({
      paymentId,
      context,
      outcome:
        outcome.status === 'failed'
          ? { declineCode: outcome.failureCode }
          : { txId: outcome.txId, isNeeded: invoiceId !== undefined, isSanctioned },
    })),
  );
  // Charges that were settled before are skipped.
  const settled = withInvoices.flatMap((one, i): Settled[] => {
    const [billing, charge] = [billings[i], charges[i]];
    return billing && charge ? [{ ...one, billing, change: charge.change }] : [];
  });
  await writeDecisions(
    tx,
    settled.flatMap((one) => decisionOf(one) ?? []),
  );
  await recordUnneeded(
    tx,
    merchantId,
    settled.filter(({ invoiceId }) => invoiceId === undefined),
  );
  // Locked last, because other transactions wait for these rows too.
  const wallets = settled.map(({ outcome }) => outcome.wallet);
  await scheduleWalletReads(tx, merchantId, wallets, last.context.time);
  await bookCharges(
    tx,
    merchantId,
    charges.filter((charge) => charge !== undefined),
  );
  return charges.map((charge) => charge !== undefined);
}

function waitingInvoice(billing: Billing | undefined, paymentId: string): string | undefined {
  const waiting = billing?.facts.invoices.find(({ pendingChargeId }) => pendingChargeId === paymentId);
  return waiting?.page === 'paid' ? undefined : waiting?.id;
}

/** The decision for the waiting invoice and its subscription. */
function decisionOf(settled: Settled): DecisionToWrite | undefined {
  const { billing, invoiceId, paymentId, outcome, isSanctioned, context, change } = settled;
  if (invoiceId === undefined) return undefined;
  const draft = new BillingDraft(billing.facts, decisionContextOf(context));
  if (outcome.status === 'failed') chargeFailed(draft, invoiceId, outcome.failureCode);
  else if (isSanctioned) chargeSeized(draft, invoiceId);
  else chargeSucceeded(draft, invoiceId);
  const additions = { charge: { invoiceId, paymentId, change } };
  return { before: billing, decision: draft.decision, context, additions };
}

/** Charges without a waiting invoice: records their events, and frees the caps of those that took nothing. */
async function recordUnneeded(tx: Tx, merchantId: string, unneeded: readonly Settled[]): Promise<void> {
  await recordEvents(
    tx,
    unneeded.map(({ change, context: { trace } }) => ({ ...change, trace })),
  );
  for (const { outcome, paymentId } of unneeded) {
    if (outcome.status === 'failed')
      await freeCap(tx, { merchantId, subscriptionId: outcome.subscriptionId, paymentId });
  }
}
