import { type Asset, UNITS_PER_TOKEN } from '@florin/contract/money';
import type { PaymentTransactionKind, PaymentTransactionStatus } from '@florin/contract/schemas';

// A quote runs for some minutes and is renewed until money is there. Then it is held: the payer is asked for the rest at
// the same rate. Dust holds nothing, or anybody could keep a rate for a day for less than a cent.
// Invariant: which of the four lives a quote has follows from the rows of its option and its transfers alone, so whoever
// reads them, in whatever order, comes to the same.

/** Money seen later than this after its quote's end counts at a new quote. */
export const QUOTE_GRACE_SECONDS = 120;
/** Less than this share of what is asked, and less than one token, is dust. */
const DUST_SHARE = 100n;

/** A quote of an option. */
export interface QuotedOption {
  currency: Asset;
  address: string;
  pay_amount: bigint;
  /** What was asked at its rate before the price was lowered, oldest first. */
  earlierAmounts: readonly { until: number; payAmount: bigint }[];
  /** Null: of one that is older than all others. */
  quoted_at: bigint | number | null;
  quote_ends_at: bigint | number;
}

/** A transfer as it bears on a quote. */
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
 * `running`, `over`: by its time, as what came is at most dust · `held`: money came in time · `due`: money came too late
 * for it, and counts at a new one.
 */
export type QuoteLife = 'running' | 'over' | 'held' | 'due';

export function isDust(amount: bigint, payAmount: bigint): boolean {
  return amount * DUST_SHARE < payAmount && amount < UNITS_PER_TOKEN;
}

/** Money for this option, a listed sender's too until it is kept. What is in another token adds up to nothing here. */
function bearsOn({ currency, address }: QuotedOption, t: QuotedTransfer): boolean {
  const isMoney = t.kind === 'counted' || (t.kind === 'seized' && t.decision !== 'kept');
  return isMoney && t.status !== 'gone' && t.currency === currency && t.address === address;
}

/** What has come to a payment. */
export interface Came {
  transfers: readonly QuotedTransfer[];
  /** What refunds take: it holds nothing any more. */
  givenBack: bigint;
}

/** When what was sent, all together, was more than dust for the first time, by what was asked at that time. */
function heldSince(option: QuotedOption, { transfers, givenBack }: Came): number | undefined {
  const askedAt = (seconds: number) =>
    option.earlierAmounts.find(({ until }) => seconds <= until)?.payAmount ?? option.pay_amount;
  let sum = -givenBack;
  const own = transfers.filter((t) => bearsOn(option, t));
  for (const { amount, seen_at } of own.toSorted((a, b) => Number(a.seen_at) - Number(b.seen_at))) {
    sum += amount;
    if (!isDust(sum, askedAt(Number(seen_at)))) return Number(seen_at);
  }
  return undefined;
}

const holdsUntil = ({ quote_ends_at: endsAt }: Pick<QuotedOption, 'quote_ends_at'>) =>
  Number(endsAt) + QUOTE_GRACE_SECONDS;

/** Of the option that money has fixed, or of one that none has come to. */
export function quoteLife(option: QuotedOption, came: Came, nowSeconds: number): QuoteLife {
  const since = heldSince(option, came);
  if (since === undefined) return nowSeconds < Number(option.quote_ends_at) ? 'running' : 'over';
  return since <= holdsUntil(option) ? 'held' : 'due';
}

/**
 * Which of an option's quotes, oldest first, money counts at: the one that stood when it was sent, though it may have been
 * renewed before that was seen. Where two stood, as one ran and the other's grace was not over, its payer may have been shown
 * either: the one that asks for less. Where none stood, the first that was made afterwards.
 *
 * @returns undefined where nothing holds any of them
 */
export function heldQuote<Q extends QuotedOption>(quotes: readonly Q[], came: Came): Q | undefined {
  const held = quotes.flatMap((quote) => {
    const since = heldSince(quote, came);
    return since === undefined || since > holdsUntil(quote) ? [] : [{ quote, since }];
  });
  const [standing] = held
    .filter(({ quote, since }) => Number(quote.quoted_at ?? 0) <= since)
    .toSorted((a, b) => Number(a.quote.pay_amount - b.quote.pay_amount));
  return (standing ?? held[0])?.quote;
}
