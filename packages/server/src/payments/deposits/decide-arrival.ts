import type { Posting } from '../../ledger/index.ts';
import { arrivalPostings, minedAgainPostings, releaseHeldPostings } from '../books/postings.ts';
import { rulesOf } from '../change-payment.ts';
import type { PaymentContext } from '../deps.ts';
import { factsOf } from '../facts.ts';
import type {
  DepositChange,
  OptionRow,
  PaymentView,
  TransactionChange,
  TransactionRow,
} from '../reads/queries.ts';
import { nextStatus, receivedAmount } from '../states.ts';

export const fixesOf = (fixed: OptionRow | undefined) => ({
  fixed_currency: fixed?.currency ?? null,
  fixed_network: fixed?.network ?? null,
});

/** A credited transfer, with the height of the block that holds it now: another one than before. */
export type InOtherBlock = TransactionRow & { height: bigint };

export interface Arrival {
  before: PaymentView;
  fixed: OptionRow | undefined;
  /** Transfers that are credited now. */
  arrived: readonly TransactionChange[];
  /** Transfers lost to a reorganisation after they were final, and in a final block again. */
  minedAgain: readonly InOtherBlock[];
  /** Late money completes a payment only when it becomes final, or when it gets its quote. */
  hasNewMoney: boolean;
  rateMoved: boolean;
}

export const hasCounted = (arrived: readonly Pick<TransactionChange, 'kind'>[]) =>
  arrived.some(({ kind }) => kind === 'counted');

/**
 * Decides the status, amounts and postings that follow from transfers that arrived.
 *
 * @param now the payment with its transactions as they are written
 */
export function decideArrival(
  { before, fixed, arrived, minedAgain, hasNewMoney, rateMoved }: Arrival,
  now: PaymentView,
  { settings, time }: PaymentContext,
): { change: DepositChange; postings: Posting[] } {
  const { payment_id: paymentId, held_amount: heldBefore, completed_at: completedAt } = before.payment;
  const facts = factsOf(now);
  const counted = arrived.filter((t) => t.kind === 'counted');
  const status = nextStatus(facts, rulesOf(now, settings), {
    now: time.seconds,
    // Expiry must wait for all networks of the payment, so only `expirePayment` decides it.
    mayExpire: false,
    hasNewMoney,
    rateMoved,
  });
  const wasCompleted = before.payment.status === 'completed';
  const held = wasCompleted ? heldBefore : counted.reduce((sum, t) => sum + t.amount, heldBefore);
  const completes = status === 'completed' && !wasCompleted;
  const postings = arrived.flatMap((t) =>
    t.currency === null ? [] : arrivalPostings(paymentId, { ...t, currency: t.currency }, wasCompleted),
  );
  for (const t of minedAgain)
    if (t.currency !== null) postings.push(...minedAgainPostings(paymentId, { ...t, currency: t.currency }));
  if (completes && fixed !== undefined) {
    const { currency, network } = fixed;
    postings.push(...releaseHeldPostings(paymentId, { currency, network, amount: held }));
  }
  const change = {
    payment_id: paymentId,
    status,
    ...fixesOf(fixed),
    received_amount: receivedAmount(facts.transactions),
    held_amount: completes ? 0n : held,
    completed_at: completes ? time.seconds : completedAt,
  };
  return { change, postings };
}
