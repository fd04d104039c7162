import { lookForMoney } from '../checkout/index.ts';
import type { InvoiceRow } from '../invoices/index.ts';
import { crashPoint } from '../platform/crash-point.ts';
import type { Tx } from '../platform/db.ts';
import { invariant } from '../platform/fail.ts';
import { type Job, type JobOutcome, type JobRun, joinedStep } from '../platform/jobs/index.ts';
import { occasionOf } from '../platform/occasion.ts';
import { getMerchant, type Merchant } from '../stores/index.ts';
import { type Billing, billingAfter, lockBilling, writeDecision } from './change-subscription.ts';
import { type ChargeReading, chargeInvoice, readForCharge } from './charge-invoice.ts';
import { type BillingContext, billingContext, occasionFor, type SubscriptionDeps } from './deps.ts';
import { Draft, type Occasion } from './draft.ts';
import { decideDue } from './due.ts';
import { realMsOf } from './jobs.ts';

/** More changes than these at one instant are left to another run, so that no run holds a worker for long. */
const CHANGES_MAX = 50;

/** A charge that is to be tried: what there is to read of it before it can be decided. */
interface ToTry {
  methodId: string | null;
  invoice: InvoiceRow;
}

/** Pages whose money is given up by the next change: whether all that came by the deadline is seen is to be found first. */
interface ToLook {
  paymentIds: readonly string[];
  deadline: number;
}

/** What comes after a transaction: another change, something to be read before it, or nothing before `wait`. */
type Next = 'change' | ToTry | ToLook | { wait: number | null };

/** What is due at the same time is written together. */
const billingStep = joinedStep<Next>();

const walletOf = ({ method: { network, currency, wallet_address: wallet } }: ChargeReading) =>
  `${network} ${currency} ${wallet}`;

/**
 * Does what is due of a subscription, each change in a transaction of its own, and comes back when the next is due. A
 * charge is read between two transactions and decided anew in the second one, and so is the end of what nobody has paid.
 */
export async function billSubscription(deps: SubscriptionDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const merchant = await getMerchant(deps.db, job.merchantId);
  const subscriptionId = String(job.payload.subscriptionId);
  let tried: (ToTry & { read: ChargeReading }) | undefined;
  let looked: ToLook | undefined;
  const begun = await billingContext(deps, merchant);
  deps.metrics.billed((begun.occasion.realMs - job.dueAtMs) / 1000);
  for (let changes = 0; changes < CHANGES_MAX && !run.signal.aborted; changes++) {
    const context = { ...begun, occasion: occasionOf(deps, merchant) };
    const change = { merchant, subscriptionId, context, tried, looked };
    const next = await billingStep(deps.db, merchant, {
      run,
      // What one of them takes out of a wallet the next one must not count on.
      locks: [subscriptionId, ...(tried === undefined ? [] : [walletOf(tried.read)])],
      change: (tx) => step(tx, change),
    });
    crashPoint('billing.step-committed');
    tried = undefined;
    looked = undefined;
    if (next === 'change') continue;
    if ('wait' in next) return next.wait === null ? 'done' : again(realMsOf(next.wait, context.occasion));
    if ('deadline' in next) {
      const notYet = await lookForMoney(deps, merchant, next.paymentIds, next.deadline);
      if (notYet !== undefined) return notYet;
      looked = next;
      continue;
    }
    const read = await readForCharge(deps, merchant, next);
    crashPoint('billing.mandate-read');
    if (read === undefined) throw new Error(`the mandate of subscription ${subscriptionId} is gone`);
    tried = { ...next, read };
  }
  return again(deps.clock.nowMs());
}

/** With the merchant's clock, even if the run before waited for something outside of it. */
const again = (againAtMs: number) => ({ againAtMs, followsClock: true });

interface Step {
  merchant: Merchant;
  subscriptionId: string;
  context: BillingContext;
  tried: (ToTry & { read: ChargeReading }) | undefined;
  looked: ToLook | undefined;
}

/** One change, if one is due. What comes after it is seen under the same locks. */
async function step(tx: Tx, { merchant, subscriptionId, context, tried, looked }: Step): Promise<Next> {
  const billing = await lockBilling(tx, merchant.merchantId, subscriptionId);
  crashPoint('billing.locked');
  const occasion = occasionFor(context);
  const due = decideDue(billing.facts, occasion);
  if (due.do === 'change') {
    const { decision, deadline } = due;
    const toLook = deadline === null ? undefined : toLookOf(billing, deadline);
    if (toLook !== undefined && !isSameLook(toLook, looked)) return toLook;
    const changed = await writeDecision(tx, billing, { decision, context, additions: { isDueJob: true } });
    return nextOf(billingAfter(billing, decision, changed), occasion);
  }
  const { methodId } = billing.facts.subscription;
  const isRead =
    due.do === 'try' && tried?.invoice.invoice_id === due.invoiceId && tried.methodId === methodId;
  if (!isRead) return nextOf(billing, occasion);
  const draft = new Draft(billing.facts, occasion);
  const trial = { draft, invoiceId: due.invoiceId, read: tried.read, context, isDueJob: true };
  const { changed } = await chargeInvoice(tx, billing, trial);
  return nextOf(billingAfter(billing, draft.decision, changed), occasion);
}

/** The open pages of a subscription; undefined where it has none. */
function toLookOf({ facts, invoices }: Billing, deadline: number): ToLook | undefined {
  const isOpen = ({ invoice_id: id }: InvoiceRow) =>
    facts.invoices.find((one) => one.id === id)?.page === 'open';
  const paymentIds = invoices.filter(isOpen).flatMap(({ page_payment_id: id }) => id ?? []);
  return paymentIds.length === 0 ? undefined : { paymentIds, deadline };
}

const isSameLook = (a: ToLook, b: ToLook | undefined) =>
  b !== undefined && b.deadline >= a.deadline && a.paymentIds.every((id) => b.paymentIds.includes(id));

function nextOf({ facts, invoices }: Billing, occasion: Occasion): Next {
  const due = decideDue(facts, occasion);
  if (due.do === 'wait') return { wait: due.at };
  if (due.do === 'change') return 'change';
  const invoice = invoices.find((row) => row.invoice_id === due.invoiceId);
  invariant(invoice !== undefined, 'what is tried is open');
  return { methodId: facts.subscription.methodId, invoice };
}
