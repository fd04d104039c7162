import { post } from '../ledger/index.ts';
import { crashPoint } from '../platform/crash-point.ts';
import type { Tx } from '../platform/db.ts';
import { enqueue } from '../platform/jobs/index.ts';
import { transact } from '../platform/transact.ts';
import { decide } from './apply-transfers.ts';
import { changePayment } from './change-payment.ts';
import { type CheckoutContext, type CheckoutDeps, checkoutContext, type MerchantRef } from './deps.ts';
import { creditedJob, expireJob } from './jobs.ts';
import { findTransfer } from './name-transfer.ts';
import { keptPostings, unseizePostings } from './postings.ts';
import { currentOption, fixedOptionOf } from './present.ts';
import {
  lockPayment,
  type PaymentView,
  readPayment,
  type TransactionChange,
  type TransactionRow,
  upsertTransactions,
} from './queries.ts';
import { hasMoved } from './quote.ts';
import { castVote } from './seizure-queries.ts';
import { kindOf } from './states.ts';

/** People who must agree before seized coins go anywhere. */
const PEOPLE = 2;

export type SeizureDecision = 'release' | 'keep';

export interface SeizureVote {
  paymentId: string;
  /** The seized transfer: a transaction, or `<tx_id>:<index>`. */
  txId: string;
  approverId: string;
  decision: SeizureDecision;
}

export interface SeizureCount {
  view: PaymentView;
  /** How many have decided so. */
  agreed: number;
  required: number;
  isDone: boolean;
}

/**
 * A registered person decides of a seized transfer; the second who decides the same carries it out. Released, it counts
 * as if it arrived now; kept, it is the operator's for good.
 *
 * @throws Fail `invalid_request` for whoever decided before, and where no such transfer is undecided (param `tx_id`)
 */
export async function decideSeizure(
  deps: CheckoutDeps,
  merchant: MerchantRef,
  vote: SeizureVote,
): Promise<SeizureCount> {
  const { settings, occasion } = await checkoutContext(deps, merchant);
  // A provider of rates may take its time: it is asked before the payment is locked.
  const known = await readPayment(deps.db, merchant.merchantId, vote.paymentId);
  const option = currentOption(known);
  const expiresAt = Number(known.payment.expires_at ?? occasion.seconds);
  const isLate = vote.decision === 'release' && occasion.seconds > expiresAt && option !== undefined;
  const rateMoved = isLate && (await hasMoved(deps, merchant, { payment: known.payment, option }, settings));
  const context = { settings, occasion, rateMoved };
  const count = await transact(deps.db, async (tx) => {
    const view = await lockPayment(tx, merchant.merchantId, vote.paymentId);
    const row = findTransfer(view, vote.txId, {
      is: (t) => t.kind === 'seized' && t.status === 'final' && t.decision === null,
      called: 'a seized transfer of this payment that is final and undecided',
    });
    const agreed = await castVote(tx, row, { ...vote, nowSeconds: occasion.seconds });
    crashPoint('seizure.voted');
    const isDone = agreed >= PEOPLE;
    const after = isDone ? await carryOut(tx, { view, row, decision: vote.decision }, context) : view;
    crashPoint('seizure.before-commit');
    return { view: after, agreed, required: PEOPLE, isDone };
  });
  crashPoint('seizure.after-commit');
  return count;
}

async function carryOut(
  tx: Tx,
  { view, row, decision }: { view: PaymentView; row: TransactionRow; decision: SeizureDecision },
  context: CheckoutContext & { rateMoved: boolean },
): Promise<PaymentView> {
  const { merchant_id: merchantId, payment_id: paymentId } = view.payment;
  const { currency } = row;
  if (currency === null) throw new Error('a seized transfer is of a listed token');
  const { occasion } = context;
  const released = decision === 'release' ? asArrivedNow(view, row, occasion.seconds) : undefined;
  await upsertTransactions(tx, merchantId, [released ?? { ...row, decision: 'kept' }]);
  crashPoint('seizure.marked');
  const fixed = fixedOptionOf(view);
  const now = await readPayment(tx, merchantId, paymentId);
  const arrived = released === undefined ? [] : [released];
  const settled = decide(
    { before: view, fixed, arrived, minedAgain: [], rateMoved: context.rateMoved },
    now,
    context,
  );
  const coins = { ...row, currency };
  const own = released === undefined ? keptPostings(paymentId, coins) : unseizePostings(paymentId, coins);
  await post(tx, merchantId, [...own, ...settled.postings], occasion.seconds);
  crashPoint('seizure.posted');
  const { payment_id: _, ...change } = settled.change;
  const after = await changePayment(tx, view, change, context);
  if (released !== undefined) await enqueue(tx, [creditedJob(merchantId, row.network, occasion.realMs)]);
  await watchExpiry(tx, after, occasion);
  return after;
}

function asArrivedNow(view: PaymentView, row: TransactionRow, seconds: number): TransactionChange {
  const option = view.options.find((o) => o.network === row.network && o.address === row.address);
  if (option === undefined) throw new Error('a transfer of a payment lies at one of its addresses');
  const kind = kindOf({ ...row, isListedSender: false }, fixedOptionOf(view) ?? option, option);
  return {
    ...row,
    kind,
    decision: 'released',
    held_amount: kind === 'wrong_token' ? row.amount : 0n,
    seen_at: seconds,
    final_at: seconds,
  };
}

/** The job that ends it has ended while it was frozen. */
async function watchExpiry(
  tx: Tx,
  { payment }: PaymentView,
  occasion: CheckoutContext['occasion'],
): Promise<void> {
  const { status, expires_at: expiresAt } = payment;
  if ((status !== 'pending' && status !== 'processing') || expiresAt === null) return;
  const dueAtMs = occasion.realMs + (Number(expiresAt) - occasion.seconds) * 1000;
  await enqueue(tx, [expireJob(payment.merchant_id, payment.payment_id, dueAtMs)]);
}
