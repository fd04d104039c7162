import { formatAmount, parseTokens } from '@florin/contract/money';
import type { Amount } from './types.ts';

/**
 * A number of tokens as base units: `usdt('12.34')` is 12_340_000n. Throws a RangeError on text of another form.
 *
 * @example
 * ```ts
 * await florin.testHelpers.fund({ currency: 'USDT', network: 'spl', amount: usdt('12.34') });
 * ```
 */
export function usdt(tokens: string): bigint {
  return parseTokens(tokens);
}

/**
 * As `usdt`: both stablecoins have six decimals on every network.
 *
 * @example
 * ```ts
 * const price: bigint = usdc('0.5'); // 500_000n
 * ```
 */
export function usdc(tokens: string): bigint {
  return parseTokens(tokens);
}

/** The decimal string of a payout. Text goes as it is, since the service judges it; a bigint must be whole cents. */
export function payoutAmount(amount: Amount): string {
  return typeof amount === 'bigint' ? formatAmount(amount) : textOf(amount);
}

/** The JSON integer of base units. Throws a RangeError for what a JSON number cannot carry exactly. */
export function baseUnits(amount: Amount): number {
  const units = typeof amount === 'bigint' ? amount : parseTokens(textOf(amount));
  const asNumber = Number(units);
  if (!Number.isSafeInteger(asNumber)) throw new RangeError(`beyond ±(2^53−1) base units: ${units}`);
  return asNumber;
}

/**
 * The JSON integer of a price in the smallest unit of its currency. Throws a TypeError for what is no whole number, such as
 * 19.99, and a RangeError beyond 2^53−1.
 */
export function priceUnits(amount: bigint | number): number {
  if (typeof amount === 'bigint') return baseUnits(amount);
  if (!Number.isInteger(amount)) {
    throw new TypeError('a price is a whole number of the smallest unit of its currency: 1999 is 19.99 USD');
  }
  return baseUnits(BigInt(amount));
}

/** Types keep numbers out; callers without types would otherwise pay 0.1 + 0.2. */
function textOf(amount: string): string {
  if (typeof amount !== 'string') {
    throw new TypeError('an amount is a bigint of base units or a decimal string of tokens, never a number');
  }
  return amount;
}
