import type { Network } from '@florin/contract/money';
import { NATIVE_COINS } from '../chains/port/index.ts';

/** Amounts of a network's own coin are read by people: nine places are enough, cut and not rounded up. */
const NATIVE_PLACES = 9;

/** `1500000000000000000` of ether → `1.500000000`. */
export function nativeText(network: Network, native: bigint): string {
  const { units } = NATIVE_COINS[network];
  const places = String(units).length - 1;
  const digits = String(native).padStart(places + 1, '0');
  return `${digits.slice(0, -places)}.${digits.slice(-places).slice(0, NATIVE_PLACES)}`;
}
