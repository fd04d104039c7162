import type { InvoiceRow } from '../invoices/index.ts';
import { type DuePages, pollPages, type RetryAt } from '../payments/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { transact } from '../platform/db/index.ts';
import { invariant } from '../platform/fail.ts';
import {
  batchStep,
  crashPoint,
  enqueue,
  type Job,
  type JobOutcome,
  type JobRun,
} from '../platform/jobs/index.ts';
import { getMerchant } from '../stores/index.ts';
import { merchantTime } from '../tenancy/index.ts';
import type { Billing } from './billing.ts';
import { type ChargeReading, readForCharge, type Trial, tryCharges } from './charge-invoice.ts';
import { Draft } from './decide/draft.ts';
import { decideDue } from './decide/due.ts';
import { type BillingContext, billingContext, decisionContextOf, type SubscriptionDeps } from './deps.ts';
import { lookJob, realMsOf } from './jobs.ts';
import { billingAfter, lockBillings, type Written, writeDecisions } from './write-decisions.ts';

/** More changes than these at one instant are left to another run, so that no run holds a worker for long. */
const CHANGES_MAX = 50;

/** A charge that is to be tried: what there is to read of it before it can be decided. */
interface ToTry {
  methodId: string | null;
  invoice: InvoiceRow;
}

/** What comes after a transaction: another change, something to be read before it, or nothing before `wait`. */
type Next =
  | 'change'
  | ToTry
  | DuePages
  /** `isHeldBack`: a change is due and waits until it is known whether its money came. */
  | { wait: number | null; isHeldBack: boolean };

/** What was found of pages whose money the next change would give up: there is none, or nobody can say yet. */
interface Looked {
  pages: DuePages;
  notYet: RetryAt | undefined;
}

/** One change of a subscription, if one is due. */
interface Step {
  merchantId: string;
  subscriptionId: string;
  context: BillingContext;
  tried: (ToTry & { read: ChargeReading }) | undefined;
  looked: Looked | undefined;
  isDueJob: boolean;
}

/** What is due of a merchant's subscriptions at the same time is written together. */
const billingStep = batchStep<Step, Next>({
  // What one of them takes out of a wallet the next one must not count on.
  locksOf: ({ subscriptionId, tried }) => [subscriptionId, ...(tried ? [walletName(tried.read)] : [])],
  change: takeSteps,
});

const walletName = ({ method: { network, currency, wallet_address: wallet } }: ChargeReading) =>
  `${network} ${currency} ${wallet}`;

/**
 * Does what is due of a subscription, each change in a transaction of its own, and comes back when the next is due. A
 * charge is read between two transactions and decided anew in the second one, and so is the end of what nobody has paid.
 * Where that cannot be read, a job of its own looks again, so that all else keeps its time.
 */
export async function billSubscription(deps: SubscriptionDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const merchant = await getMerchant(deps.db, job.merchantId);
  const subscriptionId = String(job.payload.subscriptionId);
  const isLook = job.payload.look === true;
  let tried: (ToTry & { read: ChargeReading }) | undefined;
  let looked: Looked | undefined;
  const begun = await billingContext(deps, merchant);
  deps.metrics.billed((begun.time.realMs - job.dueAtMs) / 1000);
  for (let changes = 0; changes < CHANGES_MAX && !run.signal.aborted; changes++) {
    const context = { ...begun, time: merchantTime(deps, merchant) };
    const item = {
      merchantId: merchant.merchantId,
      subscriptionId,
      context,
      tried,
      looked,
      isDueJob: !isLook,
    };
    const next = await billingStep(deps.db, merchant.merchantId, { run, item });
    crashPoint('billing.step-committed');
    tried = undefined;
    if (next === 'change') continue;
    if ('wait' in next) {
      const notYet = next.isHeldBack ? looked?.notYet : undefined;
      if (isLook) return notYet ?? 'done';
      if (notYet !== undefined)
        await transact(deps.db, (tx) => enqueue(tx, [lookJob(merchant.merchantId, subscriptionId, notYet)]));
      return next.wait === null ? 'done' : { againAtMs: realMsOf(next.wait, context.time) };
    }
    if ('deadline' in next) {
      looked = { pages: next, notYet: await pollPages(deps, merchant, next) };
      continue;
    }
    const read = await readForCharge(deps, merchant, next);
    crashPoint('billing.mandate-read');
    if (read === undefined) throw new Error(`the mandate of subscription ${subscriptionId} is gone`);
    tried = { ...next, read };
  }
  return { againAtMs: deps.clock.nowMs() };
}

/** Locks all subscriptions, decides each, and writes what was decided. What comes after it is seen under the same locks. */
async function takeSteps(tx: Tx, steps: readonly Step[]): Promise<Next[]> {
  const [first] = steps;
  if (first === undefined) return [];
  const ids = steps.map(({ subscriptionId }) => subscriptionId);
  const billings = await lockBillings(tx, first.merchantId, ids);
  crashPoint('billing.locked');
  const plans = steps.map((step, i) => planOf(step, billings[i]));
  const tried = await tryCharges(
    tx,
    plans.flatMap(({ trial }) => trial ?? []),
  );
  const decisions = [...plans, ...tried].flatMap(({ written }) => written ?? []);
  const changed = await writeDecisions(tx, decisions);
  const billingsAfter = new Map(
    decisions.map(({ before, decision }, i) => [before, billingAfter(before, decision, changed[i])]),
  );
  return plans.map(({ step, billing, next }) => next ?? nextOf(billingsAfter.get(billing) ?? billing, step));
}

/** What one step does under its locks: it writes a decision, or tries a charge, or nothing is due. */
interface Plan {
  step: Step;
  billing: Billing;
  written?: Written;
  trial?: Trial;
  /** What has to be read before anything is decided. */
  next?: DuePages;
}

function planOf(step: Step, billing: Billing | undefined): Plan {
  invariant(billing !== undefined, 'each subscription of a batch is locked');
  const { context, tried, looked, isDueJob } = step;
  const decisionContext = decisionContextOf(context);
  const due = decideDue(billing.facts, decisionContext, mayGiveUp(step));
  if (due.do === 'change') {
    const { decision, deadline } = due;
    const pages = deadline === null ? undefined : pagesOf(billing, deadline);
    if (pages !== undefined && !hasSeen(looked, pages)) return { step, billing, next: pages };
    return { step, billing, written: { before: billing, decision, context, additions: { isDueJob } } };
  }
  if (due.do !== 'try' || tried === undefined || !isOf(tried, billing, due.invoiceId))
    return { step, billing };
  const draft = new Draft(billing.facts, decisionContext);
  const { invoiceId } = due;
  return { step, billing, trial: { billing, draft, invoiceId, read: tried.read, context, isDueJob } };
}

const mayGiveUp = ({ looked }: Step) => looked?.notYet === undefined;

/** Whether what was read of a mandate and a rate is of this invoice, as it is under the locks. */
function isOf(tried: ToTry, { facts, invoices }: Billing, invoiceId: string): boolean {
  const invoice = invoices.find((row) => row.invoice_id === invoiceId);
  return (
    tried.invoice.invoice_id === invoiceId &&
    tried.invoice.amount_due === invoice?.amount_due &&
    tried.methodId === facts.subscription.methodId
  );
}

/** The pages of a subscription that money may have come to; undefined where it has none. */
function pagesOf({ facts, invoices }: Billing, deadline: number): DuePages | undefined {
  const hasPage = ({ invoice_id }: InvoiceRow) =>
    facts.invoices.some(({ id, page }) => id === invoice_id && (page === 'open' || page === 'frozen'));
  const paymentIds = invoices.filter(hasPage).flatMap(({ page_payment_id: id }) => id ?? []);
  return paymentIds.length === 0 ? undefined : { paymentIds, deadline };
}

const hasSeen = (looked: Looked | undefined, { paymentIds, deadline }: DuePages) =>
  looked !== undefined &&
  looked.pages.deadline >= deadline &&
  paymentIds.every((id) => looked.pages.paymentIds.includes(id));

function nextOf({ facts, invoices }: Billing, step: Step): Next {
  const decisionContext = decisionContextOf(step.context);
  const due = decideDue(facts, decisionContext, mayGiveUp(step));
  if (due.do === 'wait') {
    const isHeldBack = !mayGiveUp(step) && decideDue(facts, decisionContext).do === 'change';
    return { wait: due.at, isHeldBack };
  }
  if (due.do === 'change') return 'change';
  const invoice = invoices.find((row) => row.invoice_id === due.invoiceId);
  invariant(invoice !== undefined, 'what is tried is open');
  return { methodId: facts.subscription.methodId, invoice };
}
