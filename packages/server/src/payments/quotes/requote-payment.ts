import { post } from '../../ledger/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import { transact } from '../../platform/db/index.ts';
import type { Job, JobOutcome } from '../../platform/jobs/index.ts';
import { crashPoint } from '../../platform/jobs/index.ts';
import type { Rate } from '../../rates/index.ts';
import { getMerchant } from '../../stores/index.ts';
import { changePayment } from '../change-payment.ts';
import { decideArrival } from '../deposits/decide-arrival.ts';
import { type PaymentContext, type PaymentDeps, paymentContext } from '../deps.ts';
import { atBindingQuote, fixedOptionOf, isQuoteDue } from '../facts.ts';
import { lockPayment, type PaymentView, readPayment, upsertOption } from '../reads/queries.ts';
import { findRate, hasRateMoved, requotedOption } from './quote.ts';

/** Retry interval while there is no rate. */
const RETRY_MS = 30_000;

/**
 * Handles `QUOTE_JOB`: money came too late for its quote while no rate was available. It counts at the first rate there
 * is, never at the old one.
 */
export async function requotePayment(deps: PaymentDeps, job: Job): Promise<JobOutcome> {
  const merchant = await getMerchant(deps.db, job.merchantId);
  const { merchantId } = merchant;
  const paymentId = String(job.payload.paymentId);
  const context = await paymentContext(deps, merchant);
  const known = await readPayment(deps.db, merchantId, paymentId);
  const option = fixedOptionOf(known);
  if (option === undefined || !isQuoteDue(known)) return 'done';
  const rate = await findRate(deps, merchant, known.payment.currency, option.currency);
  const isDone = await transact(deps.db, async (tx) => {
    const view = await lockPayment(tx, merchantId, paymentId);
    return !isQuoteDue(view) || (await countAt(tx, view, { token: option.currency, rate }, context));
  });
  crashPoint('quote.after-commit');
  // Rates arrive in real time; a sandbox clock that is advanced must not wait for them.
  return isDone ? 'done' : { againAtMs: deps.clock.nowMs() + RETRY_MS, followsClock: false };
}

/** @returns false if the fixed option has changed to another token, or there is no rate */
async function countAt(
  tx: Tx,
  view: PaymentView,
  { token, rate }: { token: string; rate: Rate | undefined },
  context: PaymentContext,
): Promise<boolean> {
  const fixed = fixedOptionOf(view);
  if (fixed?.currency !== token) return false;
  const { payment } = view;
  const { merchant_id: merchantId, payment_id: paymentId } = payment;
  const { settings, time } = context;
  const now = await requotedIfDue(tx, { merchantId, paymentId }, rate, context);
  if (isQuoteDue(now)) return false;
  const rateMoved = hasRateMoved(payment, fixed, rate, settings);
  const judged = { before: view, fixed, arrived: [], minedAgain: [], hasNewMoney: true, rateMoved };
  const { change, postings } = decideArrival(judged, now, context);
  await post(tx, merchantId, postings, time.seconds);
  crashPoint('quote.posted');
  await changePayment(tx, view, change, context);
  return true;
}

/**
 * Reads a locked payment and switches it to the quote at which its money counts: an earlier one, or a new one if that is
 * due and there is a rate.
 */
export async function requotedIfDue(
  tx: Tx,
  { merchantId, paymentId }: { merchantId: string; paymentId: string },
  rate: Rate | undefined,
  context: PaymentContext,
): Promise<PaymentView> {
  const written = await readPayment(tx, merchantId, paymentId);
  const view = atBindingQuote(written);
  const counting = { fixed: fixedOptionOf(view), isQuoteDue: isQuoteDue(view) };
  const requoted = requotedOption(written, counting, rate, context);
  if (requoted === undefined) return written;
  await upsertOption(tx, requoted);
  return await readPayment(tx, merchantId, paymentId);
}
