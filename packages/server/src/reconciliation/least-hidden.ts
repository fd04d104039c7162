import type { Asset } from '@florin/contract/money';
import type { ChainComparison } from './compare-with-chain.ts';

/**
 * What may be missing by currency, as far as no difference of the last comparison says so: the least that was missing or was
 * explained by what moved, each time. What is missing once and explained the next time may have been hidden by a movement that
 * came in between.
 */
export function leastHidden(each: readonly (readonly ChainComparison[])[]): Map<Asset, bigint> {
  const least = new Map<Asset, bigint>();
  for (const comparison of each.flat()) {
    const { currency, hidden } = comparison;
    const missing = hidden + missingIn(comparison);
    const known = least.get(currency) ?? missing;
    least.set(currency, missing < known ? missing : known);
  }
  const shown = new Map(each.at(-1)?.map((last) => [last.currency, missingIn(last)]));
  return new Map([...least].map(([currency, amount]) => [currency, amount - (shown.get(currency) ?? 0n)]));
}

const missingIn = ({ differences }: Pick<ChainComparison, 'differences'>): bigint =>
  differences.reduce((sum, { expected, found }) => (expected > found ? sum + expected - found : sum), 0n);
