import type { Asset } from '@florin/contract/money';
import { Fail } from '../platform/fail.ts';
import { formatRate, movedBeyond, parseRate, payAmount, type Rate, RateRefused } from '../rates/index.ts';
import type { MerchantRef, PaymentDeps, PaymentSettings } from './deps.ts';
import type { OptionRow, PaymentRow } from './queries.ts';

/** What is promised to a payer: the rate as shown, and what is to be sent at 6 digits. */
export interface Quote {
  exchange_rate: string;
  pay_amount: bigint;
  quote_ends_at: number;
}

interface Price {
  amount: bigint;
  currency: string;
}

/** @throws Fail `invalid_request` with param `amount` where the price is too large to be paid in a token */
export function quoteOf(price: Price, token: Asset, rate: Rate, endsAt: number): Quote {
  return {
    exchange_rate: formatRate(rate),
    pay_amount: payAmount(price, token, rate),
    quote_ends_at: endsAt,
  };
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
export function freshQuote(
  payment: Pick<PaymentRow, 'amount' | 'currency'>,
  option: Pick<OptionRow, 'currency'>,
  rate: Rate | undefined,
  endsAt: number,
): Quote | undefined {
  if (rate === undefined) return undefined;
  try {
    return quoteOf(payment, option.currency, rate, endsAt);
  } catch (error) {
    // More than can be paid in a token: a better rate may come.
    if (error instanceof Fail) return undefined;
    throw error;
  }
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
