import { post } from '../ledger/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { transact } from '../platform/db/index.ts';
import type { Job, JobOutcome } from '../platform/jobs/index.ts';
import { crashPoint } from '../platform/jobs/index.ts';
import type { Rate } from '../rates/index.ts';
import { getMerchant } from '../stores/index.ts';
import { decide } from './apply-transfers.ts';
import { changePayment } from './change-payment.ts';
import { type PaymentContext, type PaymentDeps, paymentContext } from './deps.ts';
import { atHeldQuote, fixedOptionOf, isQuoteDue } from './present.ts';
import { lockPayment, type PaymentView, readPayment, upsertOption } from './queries.ts';
import { findRate, hasMoved, requotedOption } from './quote.ts';

/** While there is no rate. */
const AGAIN_MS = 30_000;

/**
 * Handles a job of `QUOTE_JOB`: money came too late for its quote while no rate could be had, so nobody knows yet what it
 * pays for. It counts at the first rate there is, never at the old one.
 */
export async function quoteAfresh(deps: PaymentDeps, job: Job): Promise<JobOutcome> {
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
  // In real time: a clock that is moved ahead would stop at each look.
  return isDone ? 'done' : { againAtMs: deps.clock.nowMs() + AGAIN_MS, followsClock: false };
}

/** @returns false where the rate is no answer for the option that is fixed now */
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
  const rateMoved = hasMoved(payment, fixed, rate, settings);
  const judged = { before: view, fixed, arrived: [], minedAgain: [], isJudged: true, rateMoved };
  const { change, postings } = decide(judged, now, context);
  await post(tx, merchantId, postings, time.seconds);
  crashPoint('quote.posted');
  await changePayment(tx, view, change, context);
  return true;
}

/**
 * A locked payment as it is written, at the quote at which its money counts now: one that is kept, or a new one where that is
 * due and there is a rate for it.
 */
export async function requotedIfDue(
  tx: Tx,
  { merchantId, paymentId }: { merchantId: string; paymentId: string },
  rate: Rate | undefined,
  context: PaymentContext,
): Promise<PaymentView> {
  const written = await readPayment(tx, merchantId, paymentId);
  const view = atHeldQuote(written);
  const counting = { fixed: fixedOptionOf(view), isQuoteDue: isQuoteDue(view) };
  const requoted = requotedOption(written, counting, rate, context);
  if (requoted === undefined) return written;
  await upsertOption(tx, requoted);
  return await readPayment(tx, merchantId, paymentId);
}
