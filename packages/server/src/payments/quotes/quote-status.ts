import { type Asset, UNITS_PER_TOKEN } from '@florin/contract/money';
import type { PaymentTransactionKind, PaymentTransactionStatus } from '@florin/contract/schemas';

// A quote runs for some minutes and is renewed until money arrives. From then on it is binding: the rest is due at the same
// rate. Dust does not bind a quote; otherwise anybody could keep a rate for a day for less than a cent.
// Invariant: the status of a quote follows from the rows of its option and its transfers alone, in any order.

/** Money seen later than this after its quote's end counts at a new quote. */
export const QUOTE_GRACE_SECONDS = 120;
/** Dust is less than 1/100 of the amount due and less than one token. */
const DUST_SHARE = 100n;

/** A quote of an option. */
export interface QuotedOption {
  currency: Asset;
  address: string;
  pay_amount: bigint;
  /** Amounts due at its rate before the price was lowered, oldest first. */
  earlierAmounts: readonly { until: number; payAmount: bigint }[];
  /** Null: made before this was recorded, so older than all others. */
  quoted_at: bigint | number | null;
  quote_ends_at: bigint | number;
}

/** The part of a transfer that decides the status of a quote. */
export interface QuotedTransfer {
  kind: PaymentTransactionKind;
  status: PaymentTransactionStatus;
  currency: Asset | null;
  address: string;
  amount: bigint;
  decision: 'accepted' | 'released' | 'kept' | null;
  seen_at: bigint | number;
}

/**
 * `running`, `over`: by its end, while at most dust has come · `binding`: money came in time · `due`: money came too late,
 * and counts at a new quote, which is to be made.
 */
export type QuoteStatus = 'running' | 'over' | 'binding' | 'due';

export function isDust(amount: bigint, payAmount: bigint): boolean {
  return amount * DUST_SHARE < payAmount && amount < UNITS_PER_TOKEN;
}

/** Money for this option, including seized money until it is kept. Other tokens do not count. */
function countsFor({ currency, address }: QuotedOption, t: QuotedTransfer): boolean {
  const isMoney = t.kind === 'counted' || (t.kind === 'seized' && t.decision !== 'kept');
  return isMoney && t.status !== 'gone' && t.currency === currency && t.address === address;
}

/** Money that a payment has received. */
export interface ReceivedMoney {
  transfers: readonly QuotedTransfer[];
  /** Refunded or being refunded: it no longer binds a quote. */
  refunded: bigint;
}

/** When the sum of the transfers first exceeded dust, by the amount due at that time. */
function boundSince(option: QuotedOption, { transfers, refunded }: ReceivedMoney): number | undefined {
  const dueAt = (seconds: number) =>
    option.earlierAmounts.find(({ until }) => seconds <= until)?.payAmount ?? option.pay_amount;
  let sum = -refunded;
  const own = transfers.filter((t) => countsFor(option, t));
  for (const { amount, seen_at } of own.toSorted((a, b) => Number(a.seen_at) - Number(b.seen_at))) {
    sum += amount;
    if (!isDust(sum, dueAt(Number(seen_at)))) return Number(seen_at);
  }
  return undefined;
}

const mayBindUntil = ({ quote_ends_at: endsAt }: Pick<QuotedOption, 'quote_ends_at'>) =>
  Number(endsAt) + QUOTE_GRACE_SECONDS;

/** @param option the fixed one, or one that has received no money */
export function quoteStatus(option: QuotedOption, came: ReceivedMoney, nowSeconds: number): QuoteStatus {
  const since = boundSince(option, came);
  if (since === undefined) return nowSeconds < Number(option.quote_ends_at) ? 'running' : 'over';
  return since <= mayBindUntil(option) ? 'binding' : 'due';
}

/**
 * Finds the quote at which money counts: the one that was valid when it was sent, even if it was renewed before the
 * money was seen. If two were valid (one running, one in its grace time), the payer may have seen either: the lower
 * amount counts. If none was valid, the first one made afterwards.
 *
 * @param quotes of one option, oldest first
 * @returns undefined if the money binds none of them
 */
export function bindingQuote<Q extends QuotedOption>(
  quotes: readonly Q[],
  came: ReceivedMoney,
): Q | undefined {
  const bound = quotes.flatMap((quote) => {
    const since = boundSince(quote, came);
    return since === undefined || since > mayBindUntil(quote) ? [] : [{ quote, since }];
  });
  const [lowest] = bound
    .filter(({ quote, since }) => Number(quote.quoted_at ?? 0) <= since)
    .toSorted((a, b) => Number(a.quote.pay_amount - b.quote.pay_amount));
  return (lowest ?? bound[0])?.quote;
}
