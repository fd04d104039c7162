import type { InvoiceRow } from '../invoices/index.ts';
import { type DuePages, pollPages, type RetryAt } from '../payments/invoice-pages/index.ts';
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
import { pollJob, realMsOf } from './jobs.ts';
import { billingAfter, lockBillings, type Written, writeDecisions } from './write-decisions.ts';

/** At most this many changes per run; another run continues, so that no run holds a worker for long. */
const CHANGES_MAX = 50;

const LATENESS = {
  name: 'florin_billing_lateness_seconds',
  help: 'Runs of billing, by how long after their due time they began.',
  buckets: [0.1, 1, 5, 30, 60, 300, 600, 3_600, 86_400],
};

/** A charge to try: its mandate and rate have to be read before it is decided. */
interface ToTry {
  methodId: string | null;
  invoice: InvoiceRow;
}

/** The next step after a transaction: another change, a reading that it needs, or nothing before `wait`. */
type Next =
  | 'change'
  | ToTry
  | DuePages
  /** `isHeldBack`: a change is due, but waits until its payment pages can be polled. */
  | { wait: number | null; isHeldBack: boolean };

/** Pages that were polled before a change that gives up on their money. `retryAt`: a network could not be read. */
interface PolledPages {
  pages: DuePages;
  retryAt: RetryAt | undefined;
}

/** One change of a subscription, if one is due. */
interface Step {
  merchantId: string;
  subscriptionId: string;
  context: BillingContext;
  tried: (ToTry & { read: ChargeReading }) | undefined;
  polled: PolledPages | undefined;
  isDueJob: boolean;
}

/** Due changes of a merchant's subscriptions are written in batches. */
const billingStep = batchStep<Step, Next>({
  // Charges of one wallet go in separate batches, because each reduces the balance for the next.
  locksOf: ({ subscriptionId, tried }) => [subscriptionId, ...(tried ? [walletName(tried.read)] : [])],
  change: takeSteps,
});

const walletName = ({ method: { network, currency, wallet_address: wallet } }: ChargeReading) =>
  `${network} ${currency} ${wallet}`;

/**
 * Makes the due changes of a subscription, each in its own transaction, and plans the next run for the next deadline.
 * Before a charge its mandate and rate are read between two transactions, and the second one decides again. Before the
 * end of an unpaid invoice its pages are polled in the same way. If a network cannot be read, a separate job polls
 * again, so that other changes are not delayed.
 */
export async function billSubscription(deps: SubscriptionDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const merchant = await getMerchant(deps.db, job.merchantId);
  const subscriptionId = String(job.payload.subscriptionId);
  const isPoll = job.payload.look === true;
  let tried: (ToTry & { read: ChargeReading }) | undefined;
  let polled: PolledPages | undefined;
  const begun = await billingContext(deps, merchant);
  deps.metrics.observe(LATENESS, Math.max(0, (begun.time.realMs - job.dueAtMs) / 1000));
  for (let changes = 0; changes < CHANGES_MAX && !run.signal.aborted; changes++) {
    const context = { ...begun, time: merchantTime(deps, merchant) };
    const item = {
      merchantId: merchant.merchantId,
      subscriptionId,
      context,
      tried,
      polled,
      isDueJob: !isPoll,
    };
    const next = await billingStep(deps.db, merchant.merchantId, { run, item });
    crashPoint('billing.step-committed');
    tried = undefined;
    if (next === 'change') continue;
    if ('wait' in next) {
      const retryAt = next.isHeldBack ? polled?.retryAt : undefined;
      if (isPoll) return retryAt ?? 'done';
      if (retryAt !== undefined)
        await transact(deps.db, (tx) => enqueue(tx, [pollJob(merchant.merchantId, subscriptionId, retryAt)]));
      return next.wait === null ? 'done' : { againAtMs: realMsOf(next.wait, context.time) };
    }
    if ('deadline' in next) {
      polled = { pages: next, retryAt: await pollPages(deps, merchant, next) };
      continue;
    }
    const read = await readForCharge(deps, merchant, next);
    crashPoint('billing.mandate-read');
    if (read === undefined) throw new Error(`the mandate of subscription ${subscriptionId} is gone`);
    tried = { ...next, read };
  }
  return { againAtMs: deps.clock.nowMs() };
}

/** Locks all subscriptions, decides each and writes the decisions. Each next step is found under the same locks. */
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

/** The result of one step under its locks: a decision to write, a charge to try, or neither. */
interface Plan {
  step: Step;
  billing: Billing;
  written?: Written;
  trial?: Trial;
  /** Pages to poll before the decision. */
  next?: DuePages;
}

function planOf(step: Step, billing: Billing | undefined): Plan {
  invariant(billing !== undefined, 'each subscription of a batch is locked');
  const { context, tried, polled, isDueJob } = step;
  const decisionContext = decisionContextOf(context);
  const due = decideDue(billing.facts, decisionContext, mayGiveUp(step));
  if (due.do === 'change') {
    const { decision, deadline } = due;
    const pages = deadline === null ? undefined : pagesOf(billing, deadline);
    if (pages !== undefined && !coversPages(polled, pages)) return { step, billing, next: pages };
    return { step, billing, written: { before: billing, decision, context, additions: { isDueJob } } };
  }
  if (due.do !== 'try' || tried === undefined || !isOf(tried, billing, due.invoiceId))
    return { step, billing };
  const draft = new Draft(billing.facts, decisionContext);
  const { invoiceId } = due;
  return { step, billing, trial: { billing, draft, invoiceId, read: tried.read, context, isDueJob } };
}

const mayGiveUp = ({ polled }: Step) => polled?.retryAt === undefined;

/** Whether the mandate and rate were read for this invoice in its current state under the locks. */
function isOf(tried: ToTry, { facts, invoices }: Billing, invoiceId: string): boolean {
  const invoice = invoices.find((row) => row.invoice_id === invoiceId);
  return (
    tried.invoice.invoice_id === invoiceId &&
    tried.invoice.amount_due === invoice?.amount_due &&
    tried.methodId === facts.subscription.methodId
  );
}

/** The pages of a subscription that may have received money; undefined if it has none. */
function pagesOf({ facts, invoices }: Billing, deadline: number): DuePages | undefined {
  const hasPage = ({ invoice_id }: InvoiceRow) =>
    facts.invoices.some(({ id, page }) => id === invoice_id && (page === 'open' || page === 'frozen'));
  const paymentIds = invoices.filter(hasPage).flatMap(({ page_payment_id: id }) => id ?? []);
  return paymentIds.length === 0 ? undefined : { paymentIds, deadline };
}

const coversPages = (polled: PolledPages | undefined, { paymentIds, deadline }: DuePages) =>
  polled !== undefined &&
  polled.pages.deadline >= deadline &&
  paymentIds.every((id) => polled.pages.paymentIds.includes(id));

function nextOf({ facts, invoices }: Billing, step: Step): Next {
  const decisionContext = decisionContextOf(step.context);
  const due = decideDue(facts, decisionContext, mayGiveUp(step));
  if (due.do === 'wait') {
    const isHeldBack = !mayGiveUp(step) && decideDue(facts, decisionContext).do === 'change';
    return { wait: due.at, isHeldBack };
  }
  if (due.do === 'change') return 'change';
  const invoice = invoices.find((row) => row.invoice_id === due.invoiceId);
  invariant(invoice !== undefined, 'an invoice that is tried is open');
  return { methodId: facts.subscription.methodId, invoice };
}
