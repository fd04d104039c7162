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
import { type ChargeReading, type ChargeTry, readForCharge, tryCharges } from './charge-invoice.ts';
import { chargesWithdrawn } from './decide/charge.ts';
import { BillingDraft } from './decide/draft.ts';
import { decideDue, isEnding } from './decide/due.ts';
import { type BillingContext, billingContext, decisionContextOf, type SubscriptionDeps } from './deps.ts';
import { pollJob, realMsOf } from './jobs.ts';
import { withdrawWaiting } from './withdraw-charges.ts';
import { billingAfter, type DecisionToWrite, lockBillings, writeDecisions } from './write-decisions.ts';

/** At most this many changes per run; another run continues, so that no run holds a worker for long. */
const CHANGES_MAX = 50;

const LATENESS = {
  name: 'florin_billing_lateness_seconds',
  help: 'Runs of billing, by how long after their due time they began.',
  buckets: [0.1, 1, 5, 30, 60, 300, 600, 3_600, 86_400],
};

/** A charge that is due: its mandate and rate are read before it is decided. */
interface DueCharge {
  methodId: string | null;
  invoice: InvoiceRow;
}

/** A due charge with its reading. */
interface ReadCharge extends DueCharge {
  reading: ChargeReading;
}

/** What follows a transaction. */
type Next =
  | { do: 'change' }
  | { do: 'read'; charge: DueCharge }
  | { do: 'poll'; pages: DuePages }
  /** `isHeldBack`: a change is due, but waits until its payment pages can be polled. */
  | { do: 'wait'; at: number | null; isHeldBack: boolean };

/** Pages polled before a change that ends their invoices unpaid. `retryAt`: a network could not be read. */
interface PolledPages {
  pages: DuePages;
  retryAt: RetryAt | undefined;
}

/** One change of a subscription, if one is due. */
interface BillingStep {
  merchantId: string;
  subscriptionId: string;
  context: BillingContext;
  charge: ReadCharge | undefined;
  polled: PolledPages | undefined;
  isDueJob: boolean;
}

/** Due changes of a merchant's subscriptions are written in batches. */
const billingStep = batchStep<BillingStep, Next>({
  // Charges of one wallet go in separate batches, because each reduces the balance for the next.
  locksOf: ({ subscriptionId, charge }) => [subscriptionId, ...(charge ? [walletName(charge.reading)] : [])],
  change: takeSteps,
});

const walletName = ({ method: { network, currency, wallet_address: wallet } }: ChargeReading) =>
  `${network} ${currency} ${wallet}`;

/**
 * Makes the due changes of a subscription, each in its own transaction, and plans the next run for the next deadline.
 * Before a charge its mandate and rate are read between two transactions, and the second one decides again. Before the
 * end of an unpaid invoice its pages are polled in the same way. If a network cannot be read, a separate job polls
 * again, so that other changes are not delayed.
 *
 * The loop's state is what was read for the next transaction, `charge` or `polled`: change → read → change with `charge`, which
 * serves that one transaction; or poll → change with `polled`, which serves all of the run.
 */
export async function billSubscription(deps: SubscriptionDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const merchant = await getMerchant(deps.db, job.merchantId);
  const subscriptionId = String(job.payload.subscriptionId);
  const isPoll = job.payload.look === true;
  let charge: ReadCharge | undefined;
  let polled: PolledPages | undefined;
  const begun = await billingContext(deps, merchant);
  deps.metrics.observe(LATENESS, Math.max(0, (begun.time.realMs - job.dueAtMs) / 1000));
  for (let changes = 0; changes < CHANGES_MAX && !run.signal.aborted; changes++) {
    const context = { ...begun, time: merchantTime(deps, merchant) };
    const item = {
      merchantId: merchant.merchantId,
      subscriptionId,
      context,
      charge,
      polled,
      isDueJob: !isPoll,
    };
    const next = await billingStep(deps.db, merchant.merchantId, { run, item });
    crashPoint('billing.step-committed');
    charge = undefined;
    if (next.do === 'change') continue;
    if (next.do === 'wait') {
      const retryAt = next.isHeldBack ? polled?.retryAt : undefined;
      if (isPoll) return retryAt ?? 'done';
      if (retryAt !== undefined)
        await transact(deps.db, (tx) => enqueue(tx, [pollJob(merchant.merchantId, subscriptionId, retryAt)]));
      return next.at === null ? 'done' : { againAtMs: realMsOf(next.at, context.time) };
    }
    if (next.do === 'poll') {
      polled = { pages: next.pages, retryAt: await pollPages(deps, merchant, next.pages) };
      continue;
    }
    const reading = await readForCharge(deps, merchant, next.charge);
    crashPoint('billing.mandate-read');
    if (reading === undefined) throw new Error(`the mandate of subscription ${subscriptionId} is gone`);
    charge = { ...next.charge, reading };
  }
  return { againAtMs: deps.clock.nowMs() };
}

/** Locks all subscriptions, decides each and writes the decisions. Each next step is found under the same locks. */
async function takeSteps(tx: Tx, steps: readonly BillingStep[]): Promise<Next[]> {
  const [first] = steps;
  if (first === undefined) return [];
  const ids = steps.map(({ subscriptionId }) => subscriptionId);
  const billings = await lockBillings(tx, first.merchantId, ids);
  crashPoint('billing.locked');
  const plans = [];
  for (const [i, step] of steps.entries())
    plans.push((await withdrawPlan(tx, step, billings[i])) ?? planOf(step, billings[i]));
  const tried = await tryCharges(
    tx,
    plans.flatMap(({ chargeTry }) => chargeTry ?? []),
  );
  const decisions = [...plans, ...tried].flatMap(({ toWrite }) => toWrite ?? []);
  const changed = await writeDecisions(tx, decisions);
  const billingsAfter = new Map(
    decisions.map(({ before, decision }, i) => [before, billingAfter(before, decision, changed[i])]),
  );
  return plans.map(({ step, billing, next }) => next ?? nextOf(billingsAfter.get(billing) ?? billing, step));
}

/** The result of one step under its locks: a decision to write, a charge to try, or neither. */
interface Plan {
  step: BillingStep;
  billing: Billing;
  toWrite?: DecisionToWrite;
  chargeTry?: ChargeTry;
  /** Set where pages must be polled before the decision. */
  next?: Next;
}

/** A subscription whose end is due waits for no charge that waits itself until its mandate is on the network. */
async function withdrawPlan(
  tx: Tx,
  step: BillingStep,
  billing: Billing | undefined,
): Promise<Plan | undefined> {
  const { context, isDueJob } = step;
  if (billing === undefined || !isEnding(billing.facts, context.time.seconds)) return undefined;
  const withdrawn = await withdrawWaiting(tx, billing, context);
  if (withdrawn.length === 0) return undefined;
  const draft = new BillingDraft(billing.facts, decisionContextOf(context));
  chargesWithdrawn(
    draft,
    withdrawn.map(({ invoiceId }) => invoiceId),
  );
  const { decision } = draft;
  return {
    step,
    billing,
    toWrite: { before: billing, decision, context, additions: { isDueJob, withdrawn } },
  };
}

function planOf(step: BillingStep, billing: Billing | undefined): Plan {
  invariant(billing !== undefined, 'each subscription of a batch is locked');
  const { context, charge, polled, isDueJob } = step;
  const decisionContext = decisionContextOf(context);
  const due = decideDue(billing.facts, decisionContext, mayGiveUp(step));
  if (due.do === 'change') {
    const { decision, deadline } = due;
    const pages = deadline === null ? undefined : pagesOf(billing, deadline);
    if (pages !== undefined && !coversPages(polled, pages))
      return { step, billing, next: { do: 'poll', pages } };
    return { step, billing, toWrite: { before: billing, decision, context, additions: { isDueJob } } };
  }
  if (due.do !== 'try' || charge === undefined || !isStillDue(charge, billing, due.invoiceId))
    return { step, billing };
  const draft = new BillingDraft(billing.facts, decisionContext);
  const { invoiceId } = due;
  const { reading } = charge;
  return { step, billing, chargeTry: { billing, draft, invoiceId, reading, context, isDueJob } };
}

const mayGiveUp = ({ polled }: BillingStep) => polled?.retryAt === undefined;

/** Whether the reading is of the charge that is due under the locks: same invoice, amount and payment method. */
function isStillDue(charge: DueCharge, { facts, invoices }: Billing, invoiceId: string): boolean {
  const invoice = invoices.find((row) => row.invoice_id === invoiceId);
  return (
    charge.invoice.invoice_id === invoiceId &&
    charge.invoice.amount_due === invoice?.amount_due &&
    charge.methodId === facts.subscription.methodId
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

function nextOf({ facts, invoices }: Billing, step: BillingStep): Next {
  const decisionContext = decisionContextOf(step.context);
  const due = decideDue(facts, decisionContext, mayGiveUp(step));
  if (due.do === 'wait') {
    const isHeldBack = !mayGiveUp(step) && decideDue(facts, decisionContext).do === 'change';
    return { do: 'wait', at: due.at, isHeldBack };
  }
  if (due.do === 'change') return { do: 'change' };
  const invoice = invoices.find((row) => row.invoice_id === due.invoiceId);
  invariant(invoice !== undefined, 'an invoice that is tried is open');
  return { do: 'read', charge: { methodId: facts.subscription.methodId, invoice } };
}
