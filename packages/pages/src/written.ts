import type { Network } from '@florin/contract/money';
import type { PageLanguage } from './views/languages.ts';

// How pages of payers write times, days, periods and names of networks.

export const NETWORK_NAMES: Record<Network, string> = { erc20: 'Ethereum', trc20: 'Tron', spl: 'Solana' };

/** Digits of the West in every language: a wallet takes no others, and payers compare. */
export const localeOf = (language: PageLanguage) => `${language}-u-nu-latn`;

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
