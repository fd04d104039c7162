import { post } from '../../ledger/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import { transact } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import type { Caller } from '../../platform/http/index.ts';
import { releaseHeldPostings } from '../books/postings.ts';
import { changePayment } from '../change-payment.ts';
import { type PaymentContext, type PaymentDeps, paymentContext } from '../deps.ts';
import { lockPayment, type PaymentView, type TransactionRow, upsertTransactions } from '../reads/queries.ts';
import { findTransfer } from './find-transfer.ts';

/**
 * Completes a payment with the money it has received and makes its held amount available. With `txId` it accepts one
 * `wrong_token` transfer only; the payment's status stays.
 *
 * @throws Fail `invalid_request`, with param `tx_id` if that names no acceptable transfer
 */
export async function acceptPayment(
  deps: PaymentDeps,
  caller: Caller,
  paymentId: string,
  txId: string | undefined,
): Promise<PaymentView> {
  const context = await paymentContext(deps, caller);
  return await transact(deps.db, async (tx) => {
    const view = await lockPayment(tx, caller.merchantId, paymentId);
    return txId === undefined
      ? await acceptAll(tx, view, context)
      : await acceptOne(tx, view, { ...context, txId });
  });
}

const NOT_ACCEPTED = new Set(['processing', 'frozen', 'completed', 'failed']);

async function acceptAll(tx: Tx, view: PaymentView, context: PaymentContext): Promise<PaymentView> {
  const { payment } = view;
  const { fixed_currency: currency, fixed_network: network, held_amount: amount } = payment;
  if (NOT_ACCEPTED.has(payment.status))
    throw new Fail('invalid_request', `A payment that is ${payment.status} cannot be accepted.`);
  if (payment.closed_at !== null)
    throw new Fail(
      'invalid_request',
      'The invoice of this payment is paid or void: its money can only be refunded.',
    );
  if (payment.refunding_amount > 0n || payment.refunded_amount > 0n)
    throw new Fail(
      'invalid_request',
      'A part of this payment is refunded, so it cannot be accepted any more.',
    );
  if (payment.received_amount === 0n || currency === null || network === null)
    throw new Fail('invalid_request', 'Nothing final has been received yet, so there is nothing to accept.');
  const { merchant_id: merchantId, payment_id: paymentId } = payment;
  const { seconds } = context.time;
  await post(tx, merchantId, releaseHeldPostings(paymentId, { currency, network, amount }), seconds);
  return await changePayment(
    tx,
    view,
    { status: 'completed', completed_at: seconds, held_amount: 0n },
    context,
  );
}

async function acceptOne(
  tx: Tx,
  view: PaymentView,
  { txId, ...context }: PaymentContext & { txId: string },
): Promise<PaymentView> {
  const row = findHeldTransfer(view, txId);
  if (row.refunding_amount > 0n || row.refunded_amount > 0n)
    throw new Fail('invalid_request', {
      message: 'A part of this transfer is refunded, so it cannot be accepted any more.',
      param: 'tx_id',
    });
  const { merchant_id: merchantId, payment_id: paymentId } = view.payment;
  const { currency, network, held_amount: amount } = row;
  if (currency !== null) {
    const postings = releaseHeldPostings(paymentId, { currency, network, amount });
    await post(tx, merchantId, postings, context.time.seconds);
  }
  await upsertTransactions(tx, merchantId, [{ ...row, held_amount: 0n, decision: 'accepted' }]);
  return await changePayment(tx, view, {}, context);
}

const isHeld = (t: TransactionRow) =>
  t.kind === 'wrong_token' && t.status === 'final' && t.decision !== 'accepted';

/** The transfers of wrong tokens that are held, each of which is accepted or refunded by itself. */
export const listHeldTransfers = (view: PaymentView): TransactionRow[] => view.transactions.filter(isHeld);

/**
 * Finds the held `wrong_token` transfer of this name: a transaction id, or `<tx_id>:<index>` if the transaction has
 * several.
 *
 * @throws Fail `invalid_request` with param `tx_id`
 */
export function findHeldTransfer(view: PaymentView, text: string): TransactionRow {
  return findTransfer(view, text, {
    matches: isHeld,
    description: 'a wrong_token transfer of this payment that is final and held',
  });
}
