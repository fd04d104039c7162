import { formatPrice } from '@florin/contract/currencies';
import { ASSETS, formatTokens, type Network } from '@florin/contract/money';
import type { PageLanguage } from './views/languages.ts';

// How pages of payers write prices, times, days, periods and names of networks: one rule for each, in every language.

export const NETWORK_NAMES: Record<Network, string> = { erc20: 'Ethereum', trc20: 'Tron', spl: 'Solana' };

/** Digits of the West in every language: a wallet takes no others, and payers compare. */
export const localeOf = (language: PageLanguage) => `${language}-u-nu-latn`;

/**
 * An amount of tokens as a wallet takes it, in every language: what is read is what is copied. Never with exactly three digits
 * after the point, because much of the world reads `9.996` as thousands: `9.9960`.
 */
export const tokenAmountText = (units: bigint) => formatTokens(units).replace(/\.\d{3}$/, '$&0');

export const tokensText = (units: bigint, token: string) => `${tokenAmountText(units)}\u00a0${token}`;

/** `Intl` puts them beside Arabic prices, where they turn `24.99 US$` around within the isolate that each price has. */
const DIRECTION_MARKS = /[\u061c\u200e\u200f]/g;

/** A price: of money in the manner of the language, of a token as a wallet takes it. */
export function priceText(amount: bigint, currency: string, language: PageLanguage): string {
  if (ASSETS.some((asset) => asset === currency)) return tokensText(amount, currency);
  return formatPrice(amount, currency, localeOf(language)).replaceAll(DIRECTION_MARKS, '');
}

/** What one unit of a token costs: with more digits than a price of the currency has. */
export function rateText(rate: string, currency: string, language: PageLanguage): string {
  if (ASSETS.some((asset) => asset === currency)) return `${rate}\u00a0${currency}`;
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: 8 };
  const format = new Intl.NumberFormat(localeOf(language), { style: 'currency', currency, ...digits });
  return format.format(rate as `${number}`).replaceAll(DIRECTION_MARKS, '');
}

/** In UTC and saying so: the server does not know where the payer is. */
export function timeText(seconds: number, language: PageLanguage): string {
  const format = new Intl.DateTimeFormat(localeOf(language), {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: 'UTC',
  });
  return `${format.format(seconds * 1000)} UTC`;
}

const dates = (language: PageLanguage) =>
  new Intl.DateTimeFormat(localeOf(language), { dateStyle: 'medium', timeZone: 'UTC' });

/** A day in UTC. */
export const dayText = (seconds: number, language: PageLanguage) => dates(language).format(seconds * 1000);

/** The days of a period, in UTC as it is reckoned. The last one is that before the next period's first. */
export function periodText({ start, end }: { start: number; end: number }, language: PageLanguage): string {
  return dates(language).formatRange(start * 1000, Math.max(start, end - 1) * 1000);
}
