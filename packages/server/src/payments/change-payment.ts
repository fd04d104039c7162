import type { EventType, PaymentStatus } from '@florin/contract/schemas';
import type { Updateable } from 'kysely';
import { type Change, recordEvents } from '../events/index.ts';
import { paymentNoticeJob, receiptJob } from '../mail/index.ts';
import type { Tables, Tx } from '../platform/db/index.ts';
import { updateRows } from '../platform/db/statements/index.ts';
import { enqueue, type JobSpec } from '../platform/jobs/index.ts';
import { encodeId } from '../tenancy/index.ts';
import type { PaymentContext, PaymentSettings } from './deps.ts';
import { currentOption, factsOf, isQuoteDue } from './facts.ts';
import { invoicePageChangedJob } from './invoice-pages/page-changed-job.ts';
import { quoteJob } from './jobs.ts';
import { paymentNotices } from './payment-notices.ts';
import { PAYMENT } from './reads/columns.ts';
import { presentPayment } from './reads/present.ts';
import { lockPayment, type PaymentView, transactionKey, updatePayment } from './reads/queries.ts';
import { exceptionsOf, invoicePageState, type Rules, toleranceOf } from './states.ts';

/** The tolerance and lateness rules of a payment, from the merchant's settings. */
export function rulesOf(view: PaymentView, settings: PaymentSettings): Rules {
  const payAmount = currentOption(view)?.pay_amount ?? 0n;
  const { toleranceBasisPoints: basisPoints, toleranceMaximum: units, lateSeconds } = settings;
  return { tolerance: toleranceOf(payAmount, { basisPoints, units }), lateSeconds };
}

const STATUS_EVENTS: Partial<Record<PaymentStatus, EventType>> = {
  completed: 'payment.completed',
  frozen: 'payment.failed',
  failed: 'payment.failed',
  expired: 'payment.expired',
  cancelled: 'payment.cancelled',
};

/** Writes the change of a locked payment and records its event. Call it once per payment and transaction. */
export async function changePayment(
  tx: Tx,
  before: PaymentView,
  change: Updateable<Tables['payment']>,
  context: PaymentContext,
): Promise<PaymentView> {
  const { merchant_id: merchantId, payment_id: paymentId } = before.payment;
  if (Object.keys(change).length > 0) await updatePayment(tx, before.payment, change);
  const after = await lockPayment(tx, merchantId, paymentId);
  await recordChanges(tx, [{ before, after }], context);
  return after;
}

/** Writes the exceptions of changed payments where they are others by now. */
export async function writeExceptions(
  tx: Tx,
  views: readonly PaymentView[],
  { settings }: Pick<PaymentContext, 'settings'>,
): Promise<void> {
  const changed = views.flatMap((view) => {
    const { merchant_id, payment_id, exceptions: known } = view.payment;
    const exceptions = exceptionsOf(factsOf(view), rulesOf(view, settings));
    return exceptions.join() === known.join() ? [] : [{ merchant_id, payment_id, exceptions }];
  });
  await updateRows(tx, PAYMENT, changed, ['payment_id']);
}

export interface Changed {
  before: PaymentView;
  after: PaymentView;
}

/** Records the events of changes that are written, and enqueues the jobs that follow. Call it once per transaction. */
export async function recordChanges(
  tx: Tx,
  changed: readonly Changed[],
  context: PaymentContext,
): Promise<void> {
  await writeExceptions(
    tx,
    changed.map(({ after }) => after),
    context,
  );
  await recordEvents(
    tx,
    changed.flatMap((one) => eventOf(one, context) ?? []),
  );
  const { realMs } = context.time;
  const ofInvoices = changed.filter(affectsInvoice);
  const unquoted = changed.filter(({ after }) => isQuoteDue(after));
  const mails = changed.filter(hasPayerEmail).flatMap((one) => mailJobs(one, realMs));
  if (ofInvoices.length + unquoted.length + mails.length === 0) return;
  await enqueue(tx, [
    ...mails,
    ...ofInvoices.map(({ after }) => invoicePageChangedJob(after.payment, realMs)),
    ...unquoted.map(({ after: { payment } }) => quoteJob(payment.merchant_id, payment.payment_id, realMs)),
  ]);
}

const hasPayerEmail = ({ after }: Changed) => after.payment.payer_email !== null;

/** The receipt of a payment that has just been completed, or paid again; else what is not right about its money. */
function mailJobs({ before, after }: Changed, dueAtMs: number): JobSpec[] {
  const { merchant_id: merchantId, payment_id: paymentId, status, received_amount: received } = after.payment;
  const isPaid =
    status === 'completed' &&
    (before.payment.status !== 'completed' || received > before.payment.received_amount);
  return [
    ...(isPaid ? [receiptJob(merchantId, { paymentId, received }, dueAtMs)] : []),
    ...paymentNotices(before, after).map((notice) =>
      paymentNoticeJob(merchantId, { paymentId, notice }, dueAtMs),
    ),
  ];
}

/** `subscriptions` updates the invoice in a transaction of its own, so its failure never rolls a credit back. */
function affectsInvoice({ before, after }: Changed): boolean {
  if (after.payment.invoice_id === null) return false;
  return (
    before.payment.status !== after.payment.status ||
    before.payment.received_amount !== after.payment.received_amount ||
    invoicePageState(factsOf(before)) !== invoicePageState(factsOf(after))
  );
}

function eventOf(changed: Changed, context: PaymentContext): Change | undefined {
  const type = eventType(changed);
  // A person's decision about a transfer is an event even if the payment object stays equal.
  return type && { ...paymentChange(changed, type, context), always: isDecision(changed) };
}

const byKey = (transactions: PaymentView['transactions']) =>
  new Map(transactions.map((t) => [transactionKey(t), t]));

function isDecision({ before, after }: Changed): boolean {
  const known = byKey(before.transactions);
  return after.transactions.some((t) => (known.get(transactionKey(t))?.decision ?? null) !== t.decision);
}

/** The event of a payment, for callers that record it themselves. @param before null: the payment is new */
export function paymentChange(
  { before, after }: Changed | { before: null; after: PaymentView },
  type: EventType,
  { settings, time }: PaymentContext,
): Change {
  const { merchant_id: merchantId, payment_id: paymentId, store_id: storeId } = after.payment;
  return {
    merchantId,
    storeId,
    livemode: time.livemode,
    type,
    resource: encodeId('payment', paymentId),
    before: before && presentPayment(before, rulesOf(before, settings)),
    after: presentPayment(after, rulesOf(after, settings)),
    nowSeconds: time.seconds,
    nowMs: time.realMs,
  };
}

/** A new status has its own event. Decided transfers, a new price, and money after the end are `payment.updated`. */
function eventType({ before, after }: Changed): EventType | undefined {
  const [from, to] = [before.payment.status, after.payment.status];
  // Another payment has paid the invoice, so the end of this page is no `payment.expired`.
  if (from === 'processing' && to === 'expired' && after.payment.closed_at !== null) return 'payment.updated';
  if (from !== to) return STATUS_EVENTS[to] ?? 'payment.updated';
  if (isDecision({ before, after }) || before.payment.amount !== after.payment.amount)
    return 'payment.updated';
  const known = byKey(before.transactions);
  const isEnded = to !== 'pending' && to !== 'processing';
  const hasUpdate = after.transactions.some((t) => {
    const old = known.get(transactionKey(t));
    if (old === undefined) return isEnded || t.status === 'final';
    return old.status !== t.status && t.status !== 'seen';
  });
  return hasUpdate ? 'payment.updated' : undefined;
}
