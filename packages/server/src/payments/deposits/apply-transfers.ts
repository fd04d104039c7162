import { postAll } from '../../ledger/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import { crashPoint, enqueue, type JobSpec } from '../../platform/jobs/index.ts';
import type { MerchantTime } from '../../tenancy/index.ts';
import { auditJob } from '../../transfers/blocks/index.ts';
import { recordChanges } from '../change-payment.ts';
import type { PaymentContext } from '../deps.ts';
import { hasRateMoved, requotedOption } from '../quotes/quote.ts';
import {
  lockPayments,
  type PaymentView,
  updatePayments,
  upsertOption,
  upsertTransactions,
  viewsOf,
} from '../reads/queries.ts';
import { moveToBlocks } from './coin-queries.ts';
import { decideArrival, fixesOf, hasCounted } from './decide-arrival.ts';
import { takeEarlyCredit } from './early-credit.ts';
import { creditedJob } from './jobs.ts';
import { type ChangePlan, type PaymentScan, planChange } from './plan-change.ts';

// The only place that credits deposits: once per (network, tx, index), in the transaction that makes the row final, under
// the lock of its payment. Transfers that are already final are skipped, so several workers may read the same blocks
// again, in any order.

/**
 * Applies scans to payments of one merchant in the caller's transaction.
 *
 * @returns whether any payment has changed
 */
export async function applyTransfers(
  tx: Tx,
  merchantId: string,
  scans: ReadonlyMap<string, PaymentScan>,
  context: PaymentContext,
): Promise<boolean> {
  const locked = await lockPayments(tx, merchantId, [...scans.keys()]);
  const plans: ChangePlan[] = [];
  for (const before of locked) {
    const scan = scans.get(before.payment.payment_id);
    const plan = scan && (await planWithinLimits(tx, before, scan, context));
    if (plan !== undefined) plans.push(plan);
  }
  if (plans.length === 0) return false;
  for (const plan of plans) {
    const rate = plan.fixed && plan.scan.rates.get(plan.fixed.currency);
    const requoted = requotedOption(plan.before, plan, rate, context);
    if (requoted !== undefined) await upsertOption(tx, requoted);
  }
  await upsertTransactions(
    tx,
    merchantId,
    plans.flatMap((plan) => plan.transactions),
  );
  await moveToBlocks(
    tx,
    merchantId,
    plans.flatMap((plan) => [...plan.minedAgain, ...plan.moved]),
  );
  crashPoint('deposits.transactions-written');
  await bookChanges(tx, merchantId, plans, context);
  return true;
}

/** A change whose early credit does not fit into the store's hour is planned again without it. */
async function planWithinLimits(
  tx: Tx,
  before: PaymentView,
  scan: PaymentScan,
  context: PaymentContext,
): Promise<ChangePlan | undefined> {
  const plan = planChange(before, scan, context);
  const early = plan?.arrived.filter((t) => t.is_early) ?? [];
  if (early.length === 0) return plan;
  const { merchant_id: merchantId, store_id: storeId } = before.payment;
  const amount = early.reduce((sum, t) => sum + t.amount, 0n);
  const { settings, time } = context;
  if (await takeEarlyCredit(tx, { merchantId, storeId, amount }, settings, time.seconds)) return plan;
  const { confirmations } = scan.depth;
  return planChange(before, { ...scan, depth: { confirmations, earlyUpTo: undefined } }, context);
}

/** Compares the rate of the token that the payment is paid in with its quote before this change. */
function rateMovedOf(
  { before: { payment }, scan, fixed }: ChangePlan,
  { settings }: PaymentContext,
): boolean {
  if (fixed === undefined) return false;
  return hasRateMoved(payment, fixed, scan.rates.get(fixed.currency), settings);
}

/** Books what became final, decides the new status, and releases the held amount of payments that complete. */
async function bookChanges(
  tx: Tx,
  merchantId: string,
  plans: readonly ChangePlan[],
  context: PaymentContext,
): Promise<void> {
  const { seconds } = context.time;
  const now = await viewsOf(
    tx,
    plans.map(({ before, fixed }) => ({ ...before.payment, ...fixesOf(fixed) })),
  );
  const outcomes = plans.map((plan, i) => {
    const arrival = { ...plan, hasNewMoney: hasCounted(plan.arrived), rateMoved: rateMovedOf(plan, context) };
    return { before: plan.before.payment, ...decideArrival(arrival, now[i] ?? plan.before, context) };
  });
  await postAll(
    tx,
    merchantId,
    outcomes.map(({ postings }) => postings),
    seconds,
  );
  await enqueue(tx, coinJobs(merchantId, plans, context.time));
  crashPoint('deposits.posted');
  await updatePayments(tx, merchantId, outcomes);
  const changed = plans.map(({ before }, i) => {
    const payment = { ...before.payment, ...outcomes[i]?.change };
    return { before, after: { ...(now[i] ?? before), payment } };
  });
  await recordChanges(tx, changed, context);
}

/** Orders sweeps of credited coins, and an audit for each transfer that became final or vanished. */
function coinJobs(merchantId: string, plans: readonly ChangePlan[], { realMs }: MerchantTime): JobSpec[] {
  return plans.flatMap(({ scan: { network }, arrived, minedAgain, transactions }) => [
    ...(arrived.length + minedAgain.length > 0 ? [creditedJob(merchantId, network, realMs)] : []),
    ...(transactions.some((t) => t.status !== 'seen') ? [auditJob(merchantId, network, realMs)] : []),
  ]);
}
