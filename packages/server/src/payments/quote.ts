import type { Asset } from '@florin/contract/money';
import { Fail } from '../platform/fail.ts';
import { formatRate, movedBeyond, parseRate, payAmount, type Rate, RateRefused } from '../rates/index.ts';
import type { MerchantRef, PaymentContext, PaymentDeps, PaymentSettings } from './deps.ts';
import type { OptionRow, PaymentRow, PaymentView } from './queries.ts';

/** What is promised to a payer: the rate as shown, what is to be sent at 6 digits, and from when to when. */
export interface Quote {
  exchange_rate: string;
  pay_amount: bigint;
  quoted_at: number | bigint | null;
  quote_ends_at: number | bigint;
}

/** From when on, and for how many seconds, a quote is promised. */
export interface QuoteTime {
  quotedAt: number;
  seconds: number;
}

/**
 * Quotes are kept so long after their end. What was sent in time is seen late where a network could not be read, or its node
 * has missed something, which is found when the payment ends.
 */
const KEPT_SECONDS = 86_400;

interface Price {
  amount: bigint;
  currency: string;
}

/** @throws Fail `invalid_request` with param `amount` where the price is too large to be paid in a token */
export function quoteOf(price: Price, token: Asset, rate: Rate, { quotedAt, seconds }: QuoteTime): Quote {
  return {
    exchange_rate: formatRate(rate),
    pay_amount: payAmount(price, token, rate),
    quoted_at: quotedAt,
    quote_ends_at: quotedAt + seconds,
  };
}

const isSameQuote = (a: Pick<Quote, 'quoted_at' | 'quote_ends_at'>, b: typeof a) =>
  Number(a.quoted_at ?? 0) === Number(b.quoted_at ?? 0) &&
  Number(a.quote_ends_at) === Number(b.quote_ends_at);

/** All quotes of an option that are kept, oldest first, each with what it asks for by the price of now. */
export function quotesOf(payment: Price, option: OptionRow): (OptionRow & Quote)[] {
  const earlier = option.earlier_quotes.map((quote) => ({
    ...option,
    ...quote,
    pay_amount: payAmount(payment, option.currency, parseRate(quote.exchange_rate)),
  }));
  return [...earlier, option].toSorted((a, b) => Number(a.quoted_at ?? 0) - Number(b.quoted_at ?? 0));
}

/** An option at another quote: the one before is kept, as money of its time may not be seen yet. */
export function withQuote(payment: Price, option: OptionRow, quote: Quote): OptionRow {
  if (isSameQuote(option, quote)) return option;
  const { exchange_rate, pay_amount, quoted_at, quote_ends_at } = quote;
  const earlier_quotes = quotesOf(payment, option)
    .filter((kept) => !isSameQuote(kept, quote))
    .filter((kept) => Number(kept.quote_ends_at) + KEPT_SECONDS >= Number(quoted_at ?? 0))
    .map((kept) => ({
      exchange_rate: kept.exchange_rate,
      quoted_at: kept.quoted_at === null ? null : Number(kept.quoted_at),
      quote_ends_at: Number(kept.quote_ends_at),
    }));
  return { ...option, exchange_rate, pay_amount, quoted_at, quote_ends_at, earlier_quotes };
}

/** @throws RateRefused */
export async function readRate(
  deps: Pick<PaymentDeps, 'rates'>,
  { merchantId, mode }: Pick<MerchantRef, 'merchantId' | 'mode'>,
  currency: string,
  token: Asset,
): Promise<Rate> {
  return (await deps.rates.quote({ merchantId, mode, currency, token })).rate;
}

/** A session is made only for a price that can be paid now. @throws Fail `invalid_request` with param `currency` */
export async function rateAtCreation(...deal: Parameters<typeof readRate>): Promise<Rate> {
  return await readRate(...deal).catch((error: unknown) => {
    throw error instanceof RateRefused ? error.asInvalidRequest() : error;
  });
}

/** @throws Fail `service_unavailable` */
export async function rateLater(...deal: Parameters<typeof readRate>): Promise<Rate> {
  return await readRate(...deal).catch((error: unknown) => {
    throw error instanceof RateRefused ? error.asUnavailable() : error;
  });
}

/** A new quote of an option, by the rate of its own token; undefined where nothing can be sold at it. */
function freshQuote(
  payment: Pick<PaymentRow, 'amount' | 'currency'>,
  option: Pick<OptionRow, 'currency'>,
  rate: Rate | undefined,
  time: QuoteTime,
): Quote | undefined {
  if (rate === undefined) return undefined;
  try {
    return quoteOf(payment, option.currency, rate, time);
  } catch (error) {
    // More than can be paid in a token: a better rate may come.
    if (error instanceof Fail) return undefined;
    throw error;
  }
}

/**
 * The fixed option where that is to be written, as its quote is another now. Money that came too late for all of its quotes
 * counts at a new one; without a rate, once there is one (fresh-quote.ts).
 *
 * @param fixed at the quote at which its money counts, if at any
 */
export function requotedOption(
  { payment, options }: Pick<PaymentView, 'payment' | 'options'>,
  { fixed, isQuoteDue }: { fixed: OptionRow | undefined; isQuoteDue: boolean },
  rate: Rate | undefined,
  { settings, time }: PaymentContext,
): OptionRow | undefined {
  if (fixed === undefined) return undefined;
  const quoteTime = { quotedAt: time.seconds, seconds: settings.quoteSeconds };
  const quote = isQuoteDue ? freshQuote(payment, fixed, rate, quoteTime) : undefined;
  const requoted = quote === undefined ? fixed : withQuote(payment, fixed, quote);
  return options.includes(requoted) ? undefined : requoted;
}

/**
 * Whether the rate of an option's token has moved too far since its quote for late money to count; unknown counts as
 * moved.
 */
export function hasMoved(
  payment: Pick<PaymentRow, 'currency'>,
  option: Pick<OptionRow, 'currency' | 'exchange_rate'>,
  rate: Rate | undefined,
  settings: Pick<PaymentSettings, 'lateRateBasisPoints'>,
): boolean {
  if (payment.currency === option.currency) return false;
  return (
    rate === undefined || movedBeyond(rate, parseRate(option.exchange_rate), settings.lateRateBasisPoints)
  );
}

/** What one token costs now; undefined where a rate is refused. */
export async function findRate(...deal: Parameters<typeof readRate>): Promise<Rate | undefined> {
  try {
    return await readRate(...deal);
  } catch (error) {
    if (error instanceof RateRefused) return undefined;
    throw error;
  }
}
