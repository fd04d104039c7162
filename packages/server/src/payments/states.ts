import type {
  PaymentException,
  PaymentStatus,
  PaymentTransactionKind,
  PaymentTransactionStatus,
} from '@florin/contract/schemas';
import { totalOf } from '../platform/amounts.ts';
import { Moves } from '../platform/db/guards/index.ts';

// A payment: pending ⇄ processing → completed | expired | frozen; pending → expired | cancelled | completed (accepted);
// expired, cancelled → completed (late or accepted); frozen → pending | completed | expired, and processing while more was
// seen or there is no rate for what was released. `completed` is final.
// The payment of an invoice page has no expiry. It is closed when another payment has paid the invoice or the invoice is
// void: at once, or as soon as each seen transfer is final or gone. A closed payment never completes: its money is `held`.
// The payment of a charge has neither session nor address: processing → completed | failed | expired (not needed) |
// frozen, once. A frozen charge is either kept, and expires, or is released and `processing` again until `subscriptions`
// decides whether the invoice needs it.
// Invariant: the status follows from the facts (amounts, times, decisions), so reading a block again, or twice at once,
// changes nothing. A crash between reading a block and saving the cursor repeats the read.

/** All allowed moves. From expired and cancelled a merchant accepts, or late money completes. */
export const PAYMENT_MOVES = new Moves<PaymentStatus>('a payment', {
  pending: ['processing', 'completed', 'expired', 'frozen', 'cancelled'],
  processing: ['pending', 'completed', 'expired', 'frozen', 'failed'],
  frozen: ['pending', 'processing', 'completed', 'expired'],
  expired: ['completed'],
  cancelled: ['completed'],
  completed: [],
  failed: [],
});

/** A transfer to a payment's address: in a block, in a final one (or credited early), or in none any more. */
export const TRANSACTION_MOVES = new Moves<PaymentTransactionStatus>('a deposit', {
  seen: ['final', 'gone'],
  gone: ['seen', 'final'],
  final: [],
});

export interface TransactionFact {
  /**
   * `counted`: the fixed option's token, which pays · `wrong_token`: another token that we take, held until a merchant accepts or
   * refunds it · `unlisted`: any other token, only shown · `seized`: from a sanctioned sender.
   */
  kind: PaymentTransactionKind;
  status: PaymentTransactionStatus;
  amount: bigint;
  /** When we first saw it, or its block's time if that is earlier. */
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
  /** The amount due at the fixed option's quote; null while no option is fixed, or its quote is due. */
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

/** Inputs of a status decision besides the payment's facts. */
export interface StatusContext {
  now: number;
  /** Every network of a chosen option is scanned beyond the expiry, so no unseen money can be in time. */
  mayExpire: boolean;
  /** A transfer has just become final, or got its quote: only then may late money complete a payment. */
  hasNewMoney: boolean;
  /** The rate has moved too far since the quote for late money to count. */
  rateMoved: boolean;
}

/** Final money that counts. */
export function receivedAmount(transactions: readonly TransactionFact[]): bigint {
  return totalOf(
    transactions.filter((t) => t.kind === 'counted' && t.status === 'final').map((t) => t.amount),
  );
}

/** How much may be missing: a share of the amount in basis points, or a fixed number of units if that is less. */
export function toleranceOf(payAmount: bigint, rule: { basisPoints: number; units: bigint }): bigint {
  const share = (payAmount * BigInt(rule.basisPoints)) / 10_000n;
  return share < rule.units ? share : rule.units;
}

function isEnough(amount: bigint, payAmount: bigint | null, { tolerance }: Rules): boolean {
  return payAmount !== null && amount > 0n && amount >= payAmount - tolerance;
}

/** Derives the status from the facts. */
export function nextStatus(facts: PaymentFacts, rules: Rules, context: StatusContext): PaymentStatus {
  const { status, transactions } = facts;
  switch (status) {
    case 'completed':
    case 'failed':
    case 'cancelled':
      return status;
    case 'expired':
      return completesLate(facts, rules, context) ? 'completed' : 'expired';
    case 'pending':
    case 'processing':
    case 'frozen': {
      const isClosed = facts.closedAt !== null;
      if (!isClosed && (isPaidInTime(facts, rules) || completesLate(facts, rules, context)))
        return 'completed';
      if (transactions.some((t) => t.kind === 'seized' && t.status === 'final' && !t.isDecided))
        return 'frozen';
      if (hasUnsettled(transactions) || facts.isQuoteDue) return 'processing';
      if (isClosed) return 'expired';
      const isOver = facts.expiresAt !== null && context.now >= facts.expiresAt;
      // After a seizure decision the payment expires without waiting for networks.
      return isOver && (context.mayExpire || status === 'frozen') ? 'expired' : 'pending';
    }
  }
}

/** Something of a listed token was seen that is neither final nor gone. */
const hasUnsettled = (transactions: readonly TransactionFact[]) =>
  transactions.some((t) => t.kind !== 'unlisted' && t.status === 'seen');

/** State of an invoice's page. `money`: money was seen that may still pay it · `expired`: it ended unpaid, for whatever reason. */
export type InvoicePageState = 'open' | 'money' | 'frozen' | 'paid' | 'expired';

export function invoicePageState(facts: PaymentFacts): InvoicePageState {
  const { status, closedAt, transactions } = facts;
  if (status === 'completed') return 'paid';
  if (status === 'expired' || status === 'cancelled' || status === 'failed') return 'expired';
  if (hasUnsettled(transactions)) return 'money';
  if (closedAt !== null) return 'expired';
  if (status === 'frozen') return 'frozen';
  return facts.isQuoteDue ? 'money' : 'open';
}

/** Why an invoice closes its page: another payment has paid it, or it is void because it expired or was canceled. */
export type PageEnd = 'paid' | 'expired' | 'canceled';

/**
 * The status of a page whose invoice closes it; undefined: it cannot close yet, or the page itself has paid the invoice.
 * With seized money, or seen money while the invoice is paid otherwise, it keeps its status and ends once that money is
 * decided. A closed page does not wait for a rate, since its money pays for nothing.
 */
export function statusAfterPageEnd(facts: PaymentFacts, end: PageEnd): PaymentStatus | undefined {
  switch (invoicePageState(facts)) {
    case 'paid':
      return undefined;
    case 'money':
      if (end !== 'paid') return undefined;
      return hasUnsettled(facts.transactions) ? facts.status : 'expired';
    case 'frozen':
    case 'expired':
      return facts.status;
    case 'open':
      return end === 'canceled' ? 'cancelled' : 'expired';
  }
}

/**
 * What a charge comes to when it is settled. `unneeded`: it was pulled, but its invoice is paid otherwise or void · `seized`: its wallet was
 * sanctioned by the time it was final.
 */
export type ChargeSettlement = 'made' | 'unneeded' | 'seized' | 'failed';

const CHARGED: Record<ChargeSettlement, PaymentStatus> = {
  made: 'completed',
  unneeded: 'expired',
  seized: 'frozen',
  failed: 'failed',
};

/** The payment's status after a charge; undefined if it was decided before. */
export function afterCharge(status: PaymentStatus, outcome: ChargeSettlement): PaymentStatus | undefined {
  return status === 'processing' ? CHARGED[outcome] : undefined;
}

/** Enough of what was seen before the expiry is final. */
function isPaidInTime(facts: PaymentFacts, rules: Rules): boolean {
  const { expiresAt, transactions } = facts;
  const inTime = transactions.filter((t) => expiresAt === null || t.seenAt <= expiresAt);
  return isEnough(receivedAmount(inTime) - facts.refunded - facts.refunding, facts.payAmount, rules);
}

function completesLate(facts: PaymentFacts, rules: Rules, context: StatusContext): boolean {
  const { expiresAt, transactions } = facts;
  if (!context.hasNewMoney || expiresAt === null) return false;
  const inTime = transactions.filter((t) => t.seenAt <= expiresAt + rules.lateSeconds);
  const isLate = inTime.some((t) => t.kind === 'counted' && t.status === 'final' && t.seenAt > expiresAt);
  if (isLate && (context.rateMoved || rules.lateSeconds === 0)) return false;
  return isEnough(receivedAmount(inTime) - facts.refunded - facts.refunding, facts.payAmount, rules);
}

/** How the payment deviates from its expected amount, token and time. */
export function exceptionsOf(facts: PaymentFacts, rules: Rules): PaymentException[] {
  const { transactions, payAmount, canceledAt, completedAt } = facts;
  const endedAt = facts.expiresAt ?? facts.closedAt;
  const received = receivedAmount(transactions);
  const counted = transactions.filter((t) => t.kind === 'counted' && t.status !== 'gone');
  // Money that came after completion is too much, not too late.
  const came = (isAfter: (seenAt: number) => boolean) =>
    counted.some((t) => isAfter(t.seenAt) && (completedAt === null || t.seenAt <= completedAt));
  const found: [PaymentException, boolean][] = [
    ['underpaid', received > 0n && !isEnough(received, payAmount, rules)],
    ['overpaid', payAmount !== null && received > payAmount],
    ['late', canceledAt === null && endedAt !== null && came((seenAt) => seenAt > endedAt)],
    ['wrong_token', transactions.some((t) => t.kind === 'wrong_token' && t.status !== 'gone')],
    // A cancel is refused once money is seen, so money of the same second came after it.
    ['canceled', canceledAt !== null && came((seenAt) => seenAt >= canceledAt)],
  ];
  return found.filter(([, holds]) => holds).map(([exception]) => exception);
}

/** Classifies a transfer to one of the payment's addresses. */
export function transactionKind(
  transfer: { currency: string | null; network: string; isSanctionedSender: boolean },
  fixed: { currency: string; network: string },
  /** The option at whose address it arrived. */
  option: { currency: string; network: string },
): PaymentTransactionKind {
  if (transfer.currency === null) return 'unlisted';
  if (transfer.isSanctionedSender) return 'seized';
  const isFixed = option.currency === fixed.currency && option.network === fixed.network;
  return isFixed && transfer.currency === option.currency ? 'counted' : 'wrong_token';
}
