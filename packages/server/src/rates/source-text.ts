import { isReadableUrl } from '../platform/outbound/index.ts';
import type { Pair } from './port.ts';

/** The names of the coins, as some providers use them. */
const COINS = { USDT: 'tether', USDC: 'usd-coin', ETH: 'ethereum', TRX: 'tron', SOL: 'solana' } as const;
const SAMPLE: Pair = { token: 'USDT', currency: 'EUR' };
const LENGTH_MAX = 1_000;
/** Keys of objects and indexes of arrays, separated by dots. */
const PATH = /^[\w-]+(?:\.[\w-]+)*$/;

/** Where to read a pair's rate. */
export interface RateLocation {
  url: string;
  /** The path to the rate in the JSON answer. */
  rate: readonly string[];
  /** The path to the time of the rate, where the provider gives one. */
  time: readonly string[] | undefined;
}

function fill(template: string, { token, currency }: Pair): string {
  return template
    .replaceAll('{TOKEN}', token)
    .replaceAll('{token}', token.toLowerCase())
    .replaceAll('{coin}', COINS[token])
    .replaceAll('{CURRENCY}', currency)
    .replaceAll('{currency}', currency.toLowerCase());
}

/**
 * Parses a source as an operator writes it: a URL whose fragment is the path to the rate, and after a comma to its time,
 * for example `https://api.example.com/price?id={coin}#{coin}.{currency},{coin}.updated`. The words in braces are
 * replaced for each pair: TOKEN, token, coin (tether, usd-coin, ethereum, tron, solana), CURRENCY, currency.
 */
export function locationOf(source: string, pair: Pair): RateLocation {
  const [template = '', ways = ''] = source.split('#', 2);
  const [rate = '', time] = fill(ways, pair).split(',');
  return { url: fill(template, pair), rate: rate.split('.'), time: time?.split('.') };
}

/** Whether a text is such a source. */
export function isSource(text: string): boolean {
  const [, ways, ...rest] = text.split('#');
  if (text.length > LENGTH_MAX || ways === undefined || rest.length > 0) return false;
  const { url } = locationOf(text, SAMPLE);
  const paths = fill(ways, SAMPLE).split(',');
  return (
    paths.length <= 2 && paths.every((path) => PATH.test(path)) && !/[{}]/.test(url) && isReadableUrl(url)
  );
}
