import { crashPoint } from '../platform/crash-point.ts';
import type { Tx } from '../platform/db.ts';
import { newId } from '../platform/ids.ts';
import type { Job, JobOutcome, JobRun } from '../platform/jobs/index.ts';
import { occasionOf } from '../platform/occasion.ts';
import { getMerchant, type Merchant } from '../stores/index.ts';
import { lockBilling, writeDecision } from './change-subscription.ts';
import { type ChargeReading, chargeInvoice, readForCharge } from './charge-invoice.ts';
import { type BillingContext, billingContext, type SubscriptionDeps } from './deps.ts';
import { Draft, type Occasion } from './draft.ts';
import { decideDue } from './due.ts';
import { realMsOf } from './jobs.ts';

/** More changes than these at one instant are left to another run, so that no run holds a worker for long. */
const CHANGES_MAX = 50;

export const occasionFor = ({ rules, occasion }: BillingContext): Occasion => ({
  rules,
  now: occasion.seconds,
  newId,
});

/** A charge that is to be tried: what there is to read of it before it can be decided. */
interface ToTry {
  methodId: string | null;
  invoiceId: string;
}

/**
 * Does what is due of a subscription, each change in a transaction of its own, and comes back when the next is due. A
 * charge is read between two transactions and decided anew in the second one.
 */
export async function billSubscription(deps: SubscriptionDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const merchant = await getMerchant(deps.db, job.merchantId);
  const subscriptionId = String(job.payload.subscriptionId);
  let tried: (ToTry & { read: ChargeReading }) | undefined;
  const begun = await billingContext(deps, merchant);
  deps.metrics.billed((begun.occasion.realMs - job.dueAtMs) / 1000);
  for (let change = 0; change < CHANGES_MAX && !run.signal.aborted; change++) {
    const context = { ...begun, occasion: occasionOf(deps, merchant) };
    const next = await run.step((tx) => step(tx, { merchant, subscriptionId, context, tried }));
    crashPoint('billing.step-committed');
    tried = undefined;
    if (next === 'changed') continue;
    if ('wait' in next)
      return next.wait === null ? 'done' : { againAtMs: realMsOf(next.wait, context.occasion) };
    const read = await readForCharge(deps, merchant, next);
    crashPoint('billing.mandate-read');
    if (read === undefined) throw new Error(`the mandate of subscription ${subscriptionId} is gone`);
    tried = { ...next, read };
  }
  return { againAtMs: deps.clock.nowMs() };
}

interface Step {
  merchant: Merchant;
  subscriptionId: string;
  context: BillingContext;
  tried: (ToTry & { read: ChargeReading }) | undefined;
}

async function step(
  tx: Tx,
  { merchant, subscriptionId, context, tried }: Step,
): Promise<'changed' | ToTry | { wait: number | null }> {
  const billing = await lockBilling(tx, merchant.merchantId, subscriptionId);
  crashPoint('billing.locked');
  const due = decideDue(billing.facts, occasionFor(context));
  if (due.do === 'wait') return { wait: due.at };
  if (due.do === 'change') {
    await writeDecision(tx, billing, { decision: due.decision, context, additions: { isDueJob: true } });
    return 'changed';
  }
  const { invoiceId } = due;
  const { methodId } = billing.facts.subscription;
  if (tried?.invoiceId !== invoiceId || tried.methodId !== methodId) return { methodId, invoiceId };
  const draft = new Draft(billing.facts, occasionFor(context));
  await chargeInvoice(tx, billing, { draft, invoiceId, read: tried.read, context, isDueJob: true });
  return 'changed';
}
