import type { Asset } from '@florin/contract/money';
import { Fail } from '../../platform/fail.ts';
import { formatRate, movedBeyond, parseRate, payAmount, type Rate, RateRefused } from '../../rates/index.ts';
import type { MerchantRef, PaymentContext, PaymentDeps, PaymentSettings } from '../deps.ts';
import type { OptionRow, PaymentRow, PaymentView } from '../reads/queries.ts';

/** The rate and amount promised to a payer, and how long: `pay_amount` has 6 decimal digits. */
export interface Quote {
  exchange_rate: string;
  pay_amount: bigint;
  quoted_at: number | bigint | null;
  quote_ends_at: number | bigint;
}

/** When a quote starts, and for how many seconds it is valid. */
export interface QuoteTime {
  quotedAt: number;
  seconds: number;
}

/**
 * How long earlier quotes are kept after their end. Money sent in time may be seen late: the network was unreachable, or
 * its node missed a transfer that is found when the payment ends.
 */
const QUOTE_RETENTION_SECONDS = 86_400;

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

/** All stored quotes of an option, oldest first, each with its amount at the current price. */
export function quotesOf(payment: Price, option: OptionRow): (OptionRow & Quote)[] {
  const earlier = option.earlier_quotes.map((quote) => ({
    ...option,
    ...quote,
    pay_amount: payAmount(payment, option.currency, parseRate(quote.exchange_rate)),
  }));
  return [...earlier, option].toSorted((a, b) => Number(a.quoted_at ?? 0) - Number(b.quoted_at ?? 0));
}

/** Switches an option to another quote. The previous one is kept, since money sent in its time may be seen later. */
export function withQuote(payment: Price, option: OptionRow, quote: Quote): OptionRow {
  if (isSameQuote(option, quote)) return option;
  const { exchange_rate, pay_amount, quoted_at, quote_ends_at } = quote;
  const earlier_quotes = quotesOf(payment, option)
    .filter((kept) => !isSameQuote(kept, quote))
    .filter((kept) => Number(kept.quote_ends_at) + QUOTE_RETENTION_SECONDS >= Number(quoted_at ?? 0))
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

/** For new sessions, whose price must be payable now. @throws Fail `invalid_request` with param `currency` */
export async function readRateAtCreation(...args: Parameters<typeof readRate>): Promise<Rate> {
  return await readRate(...args).catch((error: unknown) => {
    throw error instanceof RateRefused ? error.asInvalidRequest() : error;
  });
}

/** @throws Fail `service_unavailable` */
export async function readRateOrUnavailable(...args: Parameters<typeof readRate>): Promise<Rate> {
  return await readRate(...args).catch((error: unknown) => {
    throw error instanceof RateRefused ? error.asUnavailable() : error;
  });
}

/** A new quote of an option; undefined without a rate, or if the amount exceeds what a token can carry. */
function newQuote(
  payment: Pick<PaymentRow, 'amount' | 'currency'>,
  option: Pick<OptionRow, 'currency'>,
  rate: Rate | undefined,
  time: QuoteTime,
): Quote | undefined {
  if (rate === undefined) return undefined;
  try {
    return quoteOf(payment, option.currency, rate, time);
  } catch (error) {
    // The amount exceeds what a token can carry; a later rate may fit.
    if (error instanceof Fail) return undefined;
    throw error;
  }
}

/**
 * The fixed option with its new quote, if that has changed and must be written. Money that came too late for all quotes
 * counts at a new one; without a rate, `requotePayment` makes it later.
 *
 * @param fixed the option at the quote at which its money counts
 */
export function requotedOption(
  { payment, options }: Pick<PaymentView, 'payment' | 'options'>,
  { fixed, isQuoteDue }: { fixed: OptionRow | undefined; isQuoteDue: boolean },
  rate: Rate | undefined,
  { settings, time }: PaymentContext,
): OptionRow | undefined {
  if (fixed === undefined) return undefined;
  const quoteTime = { quotedAt: time.seconds, seconds: settings.quoteSeconds };
  const quote = isQuoteDue ? newQuote(payment, fixed, rate, quoteTime) : undefined;
  const requoted = quote === undefined ? fixed : withQuote(payment, fixed, quote);
  return options.includes(requoted) ? undefined : requoted;
}

/**
 * Whether the rate has moved too far since the quote for late money to count. An unknown rate counts as moved.
 */
export function hasRateMoved(
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

/** The current price of one token; undefined if the rate is refused. */
export async function findRate(...args: Parameters<typeof readRate>): Promise<Rate | undefined> {
  try {
    return await readRate(...args);
  } catch (error) {
    if (error instanceof RateRefused) return undefined;
    throw error;
  }
}
