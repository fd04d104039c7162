import * as iso4217 from 'dinero.js/bigint/currencies';
import { ASSET_DECIMALS, ASSETS } from './money.ts';

/**
 * Currencies of prices: those of ISO 4217 and the two stablecoins. A price is an integer in the smallest unit of its
 * currency (cents; whole yen; thousandths of a dinar).
 */

/** The library counts ariary and ouguiya in fifths, as people do; ISO 4217 and therefore every price in hundredths. */
const COUNTED_IN_FIFTHS_EXPONENT = 2;
const FALLBACK_LOCALE = 'en';

const EXPONENTS: ReadonlyMap<string, number> = new Map([
  ...Object.values(iso4217).map(({ code, base, exponent }): [string, number] => [
    code,
    base === 10n ? Number(exponent) : COUNTED_IN_FIFTHS_EXPONENT,
  ]),
  ...ASSETS.map((asset): [string, number] => [asset, ASSET_DECIMALS]),
]);

/** Every code that a price may be in, in alphabetical order. */
export const CURRENCIES: readonly string[] = [...EXPONENTS.keys()].toSorted();

/** Whether a price may be in it: upper case, as ISO 4217 writes its codes. */
export function isCurrency(code: string): boolean {
  return EXPONENTS.has(code);
}

/** Digits after the point of the currency's smallest unit: USD 2, JPY 0, KWD 3, USDT 6. Throws a RangeError for no currency. */
export function exponentOf(currency: string): number {
  const exponent = EXPONENTS.get(currency);
  if (exponent === undefined) throw new RangeError(`no currency: ${currency}`);
  return exponent;
}

const PRICE = /^(?:0|[1-9][0-9]{0,15})(?:\.([0-9]+))?$/;

/**
 * A price as people write it (`"19.99"`, a point, no grouping) in the smallest unit of the currency. Exact: digits
 * beyond the smallest unit are refused, not rounded. Throws a RangeError that says what is expected.
 */
export function parsePrice(text: string, currency: string): bigint {
  const exponent = exponentOf(currency);
  const match = PRICE.exec(text);
  const fraction = match?.[1] ?? '';
  if (match === null || fraction.length > exponent) {
    const expected = exponent === 0 ? 'a whole number' : `a number with at most ${exponent} decimals`;
    throw new RangeError(`an amount of ${currency} is ${expected}`);
  }
  return BigInt(text.replace('.', '')) * 10n ** BigInt(exponent - fraction.length);
}

/** A locale out of a person's browser may be anything: one that is none is English. */
function numberFormat(locale: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  try {
    return new Intl.NumberFormat(locale, options);
  } catch {
    return new Intl.NumberFormat(FALLBACK_LOCALE, options);
  }
}

/**
 * A price for people, in the manner of their locale: 1999 USD → `$19.99` (en-US), `19,99 $` (de-DE). A stablecoin is
 * written with its code and at least two decimals: `12.50 USDT`. Exact at every size.
 *
 * @param amount in the smallest unit of the currency. Throws a RangeError below zero and for no currency
 */
export function formatPrice(amount: bigint, currency: string, locale: string): string {
  if (amount < 0n) throw new RangeError('a price is at least 0');
  const exponent = exponentOf(currency);
  const digits = amount.toString().padStart(exponent + 1, '0');
  const point = digits.length - exponent;
  // As text, because a double does not hold every amount.
  const decimal = `${digits.slice(0, point)}.${digits.slice(point)}0` as `${number}`;
  if (ASSETS.some((asset) => asset === currency)) {
    const format = numberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: exponent });
    return `${format.format(decimal)}\u00a0${currency}`;
  }
  // Intl's own digits are those of everyday life (no fils in Iraq, no filler in Hungary), not those of ISO 4217.
  const fractions = { minimumFractionDigits: exponent, maximumFractionDigits: exponent };
  return numberFormat(locale, { style: 'currency', currency, ...fractions }).format(decimal);
}
