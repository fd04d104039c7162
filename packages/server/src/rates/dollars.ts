import type { CoinPrice } from './port.ts';

const MICRODOLLARS = 10n ** 6n;

/** What an amount of a network's own coin, in its smallest units, is worth, in millionths of a dollar, rounded down. */
export function dollarsOf(native: bigint, { units, scale, unitsPerCoin }: CoinPrice): bigint {
  return (native * units * MICRODOLLARS) / (unitsPerCoin * 10n ** BigInt(scale));
}
