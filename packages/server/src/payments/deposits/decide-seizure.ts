import type { Asset } from '@florin/contract/money';
import { post } from '../../ledger/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import { transact } from '../../platform/db/index.ts';
import { crashPoint, enqueue } from '../../platform/jobs/index.ts';
import type { Rate } from '../../rates/index.ts';
import { type VoteCount, votes } from '../../stores/approvers/index.ts';
import { arrivalPostings, keptPostings, unseizePostings } from '../books/postings.ts';
import { changePayment } from '../change-payment.ts';
import { type MerchantRef, type PaymentContext, type PaymentDeps, paymentContext } from '../deps.ts';
import { fixedOptionOf } from '../facts.ts';
import { expireJob } from '../jobs.ts';
import { findRate, hasRateMoved } from '../quotes/quote.ts';
import { requotedIfDue } from '../quotes/requote-payment.ts';
import {
  lockPayment,
  type PaymentView,
  readPayment,
  type TransactionChange,
  type TransactionRow,
  upsertTransactions,
} from '../reads/queries.ts';
import { transactionKind } from '../states.ts';
import { decideArrival, hasCounted } from './decide-arrival.ts';
import { findTransfer } from './find-transfer.ts';
import { creditedJob } from './jobs.ts';

export type SeizureDecision = 'release' | 'keep';

export interface SeizureVote {
  paymentId: string;
  /** The seized transfer: a transaction, or `<tx_id>:<index>`. */
  txId: string;
  approverId: string;
  decision: SeizureDecision;
  /**
   * Locks the operators, who decide in the place of registered approvers. Their votes add up among themselves alone, as one of them may be
   * an approver too; one who votes so again is counted once.
   */
  lockOperators?: (tx: Tx) => Promise<ReadonlySet<string>>;
}

/** Of votes on a seized transfer: the merchant's approvers', and the operators'. */
export const SEIZURE_ACTIONS = {
  approvers: 'payments.seizure',
  operators: 'payments.seizure.operators',
} as const;

export const seizureSubject = ({
  network,
  tx_id: txId,
  index,
}: Pick<TransactionRow, 'network' | 'tx_id' | 'index'>) => `${network}/${txId}:${index}`;

export interface SeizureCount extends VoteCount {
  view: PaymentView;
}

/**
 * Records the vote of a registered approver, or of an operator, on a seized transfer. The second equal vote carries it out: a released transfer
 * counts as if it arrived now, a kept one belongs to the operator for good.
 *
 * @throws Fail `invalid_request` for an approver who has voted, and if no undecided transfer matches (param `tx_id`)
 */
export async function decideSeizure(
  deps: PaymentDeps,
  merchant: MerchantRef,
  vote: SeizureVote,
): Promise<SeizureCount> {
  const { settings, time } = await paymentContext(deps, merchant);
  // The rate is read before the payment is locked, since a provider may be slow.
  const known = await readPayment(deps.db, merchant.merchantId, vote.paymentId);
  // The seized transfer has fixed its option, and no other option counts until it is decided.
  const option = fixedOptionOf(known);
  const { currency, expires_at: expiresAt } = known.payment;
  const isPriced = vote.decision === 'release' && option !== undefined && option.currency !== currency;
  const rate = isPriced ? await findRate(deps, merchant, currency, option.currency) : undefined;
  const isLate = isPriced && time.seconds > Number(expiresAt ?? time.seconds);
  const rateMoved = isLate && hasRateMoved(known.payment, option, rate, settings);
  const context = { settings, time, rateMoved, rate };
  const decided = await transact(deps.db, async (tx) => {
    const view = await lockPayment(tx, merchant.merchantId, vote.paymentId);
    const row = findTransfer(view, vote.txId, {
      matches: (t) => t.kind === 'seized' && t.status === 'final' && t.decision === null,
      description: 'a seized transfer of this payment that is final and undecided',
    });
    const { approverId, decision } = vote;
    const voters = await vote.lockOperators?.(tx);
    const action = SEIZURE_ACTIONS[voters === undefined ? 'approvers' : 'operators'];
    const mayRepeat = voters !== undefined;
    const cast = { action, subject: seizureSubject(row), approverId, decision, voters, mayRepeat };
    const count = await votes.castVote(tx, merchant.merchantId, cast, time.seconds);
    crashPoint('seizure.voted');
    const after = count.isDone ? await carryOut(tx, { view, row, decision }, context) : view;
    crashPoint('seizure.before-commit');
    return { view: after, ...count };
  });
  crashPoint('seizure.after-commit');
  return decided;
}

async function carryOut(
  tx: Tx,
  { view, row, decision }: { view: PaymentView; row: TransactionRow; decision: SeizureDecision },
  context: PaymentContext & { rateMoved: boolean; rate: Rate | undefined },
): Promise<PaymentView> {
  const { merchant_id: merchantId, payment_id: paymentId } = view.payment;
  const { currency } = row;
  if (currency === null) throw new Error('a seized transfer must be of a listed token');
  if (row.pulled) return await carryOutCharge(tx, view, { row: { ...row, currency }, decision }, context);
  const { time } = context;
  const released = decision === 'release' ? asArrivedNow(view, row, time.seconds) : undefined;
  await upsertTransactions(tx, merchantId, [released ?? { ...row, decision: 'kept' }]);
  crashPoint('seizure.marked');
  const fixed = fixedOptionOf(view);
  const now = await requotedIfDue(tx, { merchantId, paymentId }, context.rate, context);
  const arrived = released === undefined ? [] : [released];
  const settled = decideArrival(
    {
      before: view,
      fixed,
      arrived,
      minedAgain: [],
      hasNewMoney: hasCounted(arrived),
      rateMoved: context.rateMoved,
    },
    now,
    context,
  );
  const coins = { ...row, currency };
  const own = released === undefined ? keptPostings(paymentId, coins) : unseizePostings(paymentId, coins);
  await post(tx, merchantId, [...own, ...settled.postings], time.seconds);
  crashPoint('seizure.posted');
  const { payment_id: _, ...change } = settled.change;
  const after = await changePayment(tx, view, change, context);
  if (released !== undefined) await enqueue(tx, [creditedJob(merchantId, row.network, time.realMs)]);
  await watchExpiry(tx, after, time);
  return after;
}

/**
 * A seized charge has no open page. If it is kept, its payment ends. If it is released, its money is `held` until
 * `subscriptions` decides in one transaction whether the invoice still needs it.
 */
async function carryOutCharge(
  tx: Tx,
  view: PaymentView,
  { row, decision }: { row: TransactionRow & { currency: Asset }; decision: SeizureDecision },
  context: PaymentContext,
): Promise<PaymentView> {
  const { merchant_id: merchantId, payment_id: paymentId } = view.payment;
  const { seconds } = context.time;
  const isReleased = decision === 'release';
  const released = isReleased ? asArrivedNow(view, row, seconds) : undefined;
  await upsertTransactions(tx, merchantId, [released ?? { ...row, decision: 'kept' }]);
  crashPoint('seizure.marked');
  const postings = isReleased
    ? [...unseizePostings(paymentId, row), ...arrivalPostings(paymentId, { ...row, kind: 'counted' }, false)]
    : keptPostings(paymentId, row);
  await post(tx, merchantId, postings, seconds);
  crashPoint('seizure.posted');
  const { amount } = row;
  const change = isReleased
    ? ({ status: 'processing', received_amount: amount, held_amount: amount } as const)
    : ({ status: 'expired', closed_at: seconds } as const);
  return await changePayment(tx, view, change, context);
}

function asArrivedNow(view: PaymentView, row: TransactionRow, seconds: number): TransactionChange {
  const option = view.options.find((o) => o.network === row.network && o.address === row.address);
  if (option === undefined) throw new Error('a transfer must belong to one of its payment’s addresses');
  const kind = transactionKind({ ...row, isSanctionedSender: false }, fixedOptionOf(view) ?? option, option);
  return {
    ...row,
    kind,
    decision: 'released',
    held_amount: kind === 'wrong_token' ? row.amount : 0n,
    seen_at: seconds,
    final_at: seconds,
  };
}

/** The expiry job ended when the payment was frozen, so an open payment needs a new one. */
async function watchExpiry(tx: Tx, { payment }: PaymentView, time: PaymentContext['time']): Promise<void> {
  const { status, expires_at: expiresAt } = payment;
  if ((status !== 'pending' && status !== 'processing') || expiresAt === null) return;
  const dueAtMs = time.realMs + (Number(expiresAt) - time.seconds) * 1000;
  await enqueue(tx, [expireJob(payment.merchant_id, payment.payment_id, dueAtMs)]);
}
