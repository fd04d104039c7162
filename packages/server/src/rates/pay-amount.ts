import { exponentOf } from '@florin/contract/currencies';
import { type Asset, UNITS_PER_CENT, UNITS_PER_TOKEN } from '@florin/contract/money';
import { Fail, invariant } from '../platform/fail.ts';
import { formatRate, type Rate } from './rate.ts';

/** The largest integer that JSON numbers hold without loss. */
const PAY_AMOUNT_MAX = 2n ** 53n - 1n;

export interface Price {
  /** In the smallest unit of the currency, at least 1. */
  amount: bigint;
  currency: string;
}

/**
 * The amount of tokens for a price, in units of 6 digits: amount / rate, rounded up to 0.01 token, so that no merchant
 * gets less than the price. A price in the token itself is exact to the unit.
 *
 * @param rate the price of one token in the price's currency
 * @throws Fail `invalid_request` with param `amount` above 2^53−1
 */
export function payAmount({ amount, currency }: Price, token: Asset, rate: Rate): bigint {
  invariant(amount > 0n && rate.units > 0n, 'prices and rates are above zero');
  const units = currency === token ? amount : convert({ amount, currency }, rate);
  if (currency === token) invariant(formatRate(rate) === '1', 'a token costs one of itself');
  if (units <= PAY_AMOUNT_MAX) return units;
  throw new Fail('invalid_request', {
    message: `The amount is above the maximum that can be paid in ${token}.`,
    param: 'amount',
  });
}

function convert({ amount, currency }: Price, rate: Rate): bigint {
  // amount / 10^exponent ÷ units / 10^scale, counted in steps of 0.01 token; one division, rounded up once.
  const numerator = amount * 10n ** BigInt(rate.scale) * (UNITS_PER_TOKEN / UNITS_PER_CENT);
  const denominator = 10n ** BigInt(exponentOf(currency)) * rate.units;
  return ((numerator + denominator - 1n) / denominator) * UNITS_PER_CENT;
}
