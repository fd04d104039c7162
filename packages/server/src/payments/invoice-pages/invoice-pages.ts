import type { Change } from '../../events/index.ts';
import { post } from '../../ledger/index.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { invariant } from '../../platform/fail.ts';
import { parseRate, payAmount } from '../../rates/index.ts';
import { changePayment, paymentChange, writeExceptions } from '../change-payment.ts';
import { decideArrival } from '../deposits/decide-arrival.ts';
import type { PaymentContext } from '../deps.ts';
import { factsOf, fixedOptionOf } from '../facts.ts';
import { lockPayment, lockPayments, readPayment, updatePayment, upsertOption } from '../reads/queries.ts';
import { type InvoicePageState, invoicePageState, type PageEnd, statusAfterPageEnd } from '../states.ts';

interface PaymentKey {
  merchantId: string;
  paymentId: string;
}

export async function readInvoicePageState(
  db: Db,
  { merchantId, paymentId }: PaymentKey,
): Promise<InvoicePageState> {
  return invoicePageState(factsOf(await readPayment(db, merchantId, paymentId)));
}

/**
 * Locks the payments of invoices' pages, in the order of their ids.
 *
 * @returns their states by payment: an invoice must not end while its page holds `money`
 */
export async function lockInvoicePages(
  tx: Tx,
  merchantId: string,
  paymentIds: readonly string[],
): Promise<ReadonlyMap<string, InvoicePageState>> {
  if (paymentIds.length === 0) return new Map();
  const views = await lockPayments(tx, merchantId, paymentIds);
  return new Map(views.map((view) => [view.payment.payment_id, invoicePageState(factsOf(view))]));
}

/**
 * Closes the page of an invoice that another payment has paid (`paid`: it expires without an event), or that is void. Money
 * that arrives later is only held. A frozen page, or one with seen money for a paid invoice, keeps its status until that
 * money is decided, and never completes.
 *
 * @returns the events, for the caller to record in order with its own; false, without a change, if a void invoice has seen
 * money that is not final, or the page has been paid
 */
export async function closeInvoicePage(
  tx: Tx,
  { merchantId, paymentId }: PaymentKey,
  end: PageEnd,
  context: PaymentContext,
): Promise<Change[] | false> {
  const before = await lockPayment(tx, merchantId, paymentId);
  const { seconds } = context.time;
  const status = statusAfterPageEnd(factsOf(before), end);
  if (status === undefined) return false;
  if (before.payment.closed_at !== null) return [];
  const canceled = status === 'cancelled' ? { canceled_at: seconds } : {};
  const payment = await updatePayment(tx, before.payment, { status, closed_at: seconds, ...canceled });
  const after = { ...before, payment };
  await writeExceptions(tx, [after], context);
  if (end === 'paid' || status === before.payment.status) return [];
  const type = status === 'cancelled' ? 'payment.cancelled' : 'payment.expired';
  return [paymentChange({ before, after }, type, context)];
}

/**
 * Lowers the amount of an invoice's page, at the rates that its payer has seen. The caller holds the lock of the payment
 * and has checked that it has no undecided money. The money received so far may now be enough.
 */
export async function repriceInvoicePage(
  tx: Tx,
  { merchantId, paymentId }: { merchantId: string; paymentId: string },
  amount: bigint,
  context: PaymentContext,
): Promise<void> {
  const before = await lockPayment(tx, merchantId, paymentId);
  invariant(invoicePageState(factsOf(before)) === 'open', 'only an open page can be repriced');
  const { currency, amount: amountBefore, earlier_amounts: earlier } = before.payment;
  // Whether money received so far is dust depends on the amount at its time.
  const earlierAmounts = [...earlier, { amount: String(amountBefore), until: context.time.seconds }];
  await updatePayment(tx, before.payment, { amount, earlier_amounts: JSON.stringify(earlierAmounts) });
  for (const option of before.options) {
    const pay_amount = payAmount({ amount, currency }, option.currency, parseRate(option.exchange_rate));
    await upsertOption(tx, { ...option, pay_amount });
  }
  const now = await readPayment(tx, merchantId, paymentId);
  const fixed = fixedOptionOf(before);
  const nothing = { arrived: [], minedAgain: [], hasNewMoney: false, rateMoved: false };
  const settled = decideArrival({ before, fixed, ...nothing }, now, context);
  await post(tx, merchantId, settled.postings, context.time.seconds);
  const { payment_id: _, ...change } = settled.change;
  await changePayment(tx, before, change, context);
}
