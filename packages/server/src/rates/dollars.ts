import type { Rate } from './rate.ts';

/** A coin has so many of its smallest unit: wei. */
const UNITS_PER_COIN = 10n ** 18n;
const MICRODOLLARS = 10n ** 6n;

/** What an amount of a network's own coin is worth, in millionths of a dollar, rounded down. */
export function dollarsOf(native: bigint, { units, scale }: Rate): bigint {
  return (native * units * MICRODOLLARS) / (UNITS_PER_COIN * 10n ** BigInt(scale));
}
