import type {
  PaymentException,
  PaymentStatus,
  PaymentTransactionKind,
  PaymentTransactionStatus,
} from '@florin/contract/schemas';
import { Moves } from '../platform/db/index.ts';

// A payment: pending ⇄ processing → completed | expired | frozen; pending → expired | cancelled | completed (accepted);
// expired, cancelled → completed (late or accepted); frozen → pending | completed | expired, and processing while more was
// seen or there is no rate for what was released. `completed` is final.
// One of an invoice has no expiry: it is closed once that is paid by another payment or void, at once or as soon as what
// was seen of money is decided. A closed one never completes: its money lies in `held`. A charge of a wallet has neither
// session nor address: processing → completed | failed | expired (made in vain) | frozen, once. A frozen one is kept, and
// expired, or released, and processing again until whoever keeps its invoice says whether that needs it.
// Invariant: the status follows from the facts (what was received, when, and what was decided), so that reading a block
// again, or twice at once, changes nothing. A crash between a block's reading and its cursor repeats the reading.

/** Every allowed move, and no other. From expired and cancelled a merchant accepts, or late money completes. */
export const PAYMENT_MOVES = new Moves<PaymentStatus>('a payment', {
  pending: ['processing', 'completed', 'expired', 'frozen', 'cancelled'],
  processing: ['pending', 'completed', 'expired', 'frozen', 'failed'],
  frozen: ['pending', 'processing', 'completed', 'expired'],
  expired: ['completed'],
  cancelled: ['completed'],
  completed: [],
  failed: [],
});

export interface TransactionFact {
  kind: PaymentTransactionKind;
  status: PaymentTransactionStatus;
  amount: bigint;
  /** Our first sight or its block's time, whichever is earlier. */
  seenAt: number;
  /** Decided by people: a seizure released or kept, a wrong token accepted. */
  isDecided: boolean;
}

export interface PaymentFacts {
  status: PaymentStatus;
  /** Null: a payment of an invoice. */
  expiresAt: number | null;
  canceledAt: number | null;
  /** Its invoice was paid by another payment, or void. */
  closedAt: number | null;
  completedAt: number | null;
  /** What the fixed option's quote asks for; null while no option is fixed, or its quote is due. */
  payAmount: bigint | null;
  /** Money came that counts at a new quote, and there is no rate for one yet. */
  isQuoteDue: boolean;
  refunded: bigint;
  refunding: bigint;
  transactions: readonly TransactionFact[];
}

export interface Rules {
  /** What may be missing without the payment being underpaid. */
  tolerance: bigint;
  /** Seconds after the expiry within which late money still completes a payment; 0: never. */
  lateSeconds: number;
}

/** What the world looks like as a status is decided. */
export interface Moment {
  now: number;
  /** Every network of a chosen option has been read beyond the expiry, so that nothing unseen can be in time. */
  mayExpire: boolean;
  /** A transfer has just become final: only then may late money complete a payment. */
  hasNewMoney: boolean;
  /** The rate has moved too far since the quote for late money to count. */
  rateMoved: boolean;
}

const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n);

/** Final money that counts. */
export function receivedOf(transactions: readonly TransactionFact[]): bigint {
  return sum(transactions.filter((t) => t.kind === 'counted' && t.status === 'final').map((t) => t.amount));
}

/** The smaller of a share of the amount (basis points) and a fixed number of units: what may be missing. */
export function toleranceOf(payAmount: bigint, rule: { basisPoints: number; units: bigint }): bigint {
  const share = (payAmount * BigInt(rule.basisPoints)) / 10_000n;
  return share < rule.units ? share : rule.units;
}

function isEnough(amount: bigint, payAmount: bigint | null, { tolerance }: Rules): boolean {
  return payAmount !== null && amount > 0n && amount >= payAmount - tolerance;
}

/** The status that follows from the facts. */
export function nextStatus(facts: PaymentFacts, rules: Rules, moment: Moment): PaymentStatus {
  const { status, transactions } = facts;
  switch (status) {
    case 'completed':
    case 'failed':
    case 'cancelled':
      return status;
    case 'expired':
      return completesLate(facts, rules, moment) ? 'completed' : 'expired';
    case 'pending':
    case 'processing':
    case 'frozen': {
      const isClosed = facts.closedAt !== null;
      if (!isClosed && (isPaidInTime(facts, rules) || completesLate(facts, rules, moment)))
        return 'completed';
      if (transactions.some((t) => t.kind === 'seized' && t.status === 'final' && !t.isDecided))
        return 'frozen';
      if (hasUndecided(transactions) || facts.isQuoteDue) return 'processing';
      if (isClosed) return 'expired';
      const isOver = facts.expiresAt !== null && moment.now >= facts.expiresAt;
      // What was decided by people waits for no network: the payment was held up long enough.
      return isOver && (moment.mayExpire || status === 'frozen') ? 'expired' : 'pending';
    }
  }
}

/** Something of a listed token was seen that is neither final nor gone. */
const hasUndecided = (transactions: readonly TransactionFact[]) =>
  transactions.some((t) => t.kind !== 'unlisted' && t.status === 'seen');

/** How the page of an invoice stands. `busy`: money was seen that may yet pay it. */
export type InvoicePageState = 'open' | 'busy' | 'frozen' | 'paid' | 'over';

export function invoicePageState(facts: PaymentFacts): InvoicePageState {
  const { status, closedAt, transactions } = facts;
  if (status === 'completed') return 'paid';
  if (status === 'expired' || status === 'cancelled' || status === 'failed') return 'over';
  if (hasUndecided(transactions)) return 'busy';
  if (closedAt !== null) return 'over';
  if (status === 'frozen') return 'frozen';
  return facts.isQuoteDue ? 'busy' : 'open';
}

/** Why an invoice needs its page no longer: another payment has paid it, or it is void for one of two reasons. */
export type PageEnd = 'paid' | 'expired' | 'canceled';

/**
 * What becomes of a page whose invoice needs it no longer; undefined: that has to wait, or the page has paid itself. While
 * something is seized, and while money was seen for an invoice that is paid, it is closed and ends once that is decided. A
 * closed page waits for no rate, as its money counts for nothing.
 */
export function endOfPage(facts: PaymentFacts, end: PageEnd): PaymentStatus | undefined {
  switch (invoicePageState(facts)) {
    case 'paid':
      return undefined;
    case 'busy':
      if (end !== 'paid') return undefined;
      return hasUndecided(facts.transactions) ? facts.status : 'expired';
    case 'frozen':
    case 'over':
      return facts.status;
    case 'open':
      return end === 'canceled' ? 'cancelled' : 'expired';
  }
}

/**
 * What became of a charge. `unneeded`: it was made, for an invoice that is paid otherwise or void · `seized`: its wallet was
 * listed by the time it was final.
 */
export type ChargeOutcome = 'made' | 'unneeded' | 'seized' | 'failed';

const CHARGED: Record<ChargeOutcome, PaymentStatus> = {
  made: 'completed',
  unneeded: 'expired',
  seized: 'frozen',
  failed: 'failed',
};

/** What a charge's outcome makes of its payment; undefined where that was decided before. */
export function afterCharge(status: PaymentStatus, outcome: ChargeOutcome): PaymentStatus | undefined {
  return status === 'processing' ? CHARGED[outcome] : undefined;
}

/** Enough of what was seen before the expiry is final. */
function isPaidInTime(facts: PaymentFacts, rules: Rules): boolean {
  const { expiresAt, transactions } = facts;
  const inTime = transactions.filter((t) => expiresAt === null || t.seenAt <= expiresAt);
  return isEnough(receivedOf(inTime) - facts.refunded - facts.refunding, facts.payAmount, rules);
}

function completesLate(facts: PaymentFacts, rules: Rules, moment: Moment): boolean {
  const { expiresAt, transactions } = facts;
  if (!moment.hasNewMoney || expiresAt === null) return false;
  const inTime = transactions.filter((t) => t.seenAt <= expiresAt + rules.lateSeconds);
  const isLate = inTime.some((t) => t.kind === 'counted' && t.status === 'final' && t.seenAt > expiresAt);
  if (isLate && (moment.rateMoved || rules.lateSeconds === 0)) return false;
  return isEnough(receivedOf(inTime) - facts.refunded - facts.refunding, facts.payAmount, rules);
}

/** How the payment deviates from what was asked for, now. */
export function exceptionsOf(facts: PaymentFacts, rules: Rules): PaymentException[] {
  const { transactions, payAmount, canceledAt, completedAt } = facts;
  const endedAt = facts.expiresAt ?? facts.closedAt;
  const received = receivedOf(transactions);
  const counted = transactions.filter((t) => t.kind === 'counted' && t.status !== 'gone');
  // What came once the payment was completed is too much, not too late.
  const came = (isAfter: (seenAt: number) => boolean) =>
    counted.some((t) => isAfter(t.seenAt) && (completedAt === null || t.seenAt <= completedAt));
  const found: [PaymentException, boolean][] = [
    ['underpaid', received > 0n && !isEnough(received, payAmount, rules)],
    ['overpaid', payAmount !== null && received > payAmount],
    ['late', canceledAt === null && endedAt !== null && came((seenAt) => seenAt > endedAt)],
    ['wrong_token', transactions.some((t) => t.kind === 'wrong_token' && t.status !== 'gone')],
    // A cancel is refused once money is seen, so what came in its second came after it.
    ['canceled', canceledAt !== null && came((seenAt) => seenAt >= canceledAt)],
  ];
  return found.filter(([, holds]) => holds).map(([exception]) => exception);
}

/** What a transfer is to its payment. */
export function kindOf(
  transfer: { currency: string | null; network: string; isListedSender: boolean },
  fixed: { currency: string; network: string },
  /** The option at whose address it arrived. */
  option: { currency: string; network: string },
): PaymentTransactionKind {
  if (transfer.currency === null) return 'unlisted';
  if (transfer.isListedSender) return 'seized';
  const isFixed = option.currency === fixed.currency && option.network === fixed.network;
  return isFixed && transfer.currency === option.currency ? 'counted' : 'wrong_token';
}
