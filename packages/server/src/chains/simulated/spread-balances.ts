/**
 * The node has nothing but the state of its newest block, as on networks whose `BalancesAnswer` has an `upTo`: while it is asked for many
 * balances a block is made. The first half of the addresses is as of the block before, or with `_back` the second half. With
 * `spread_lists` so few as a node has in one answer are as of one block.
 */
export type BalanceFault = 'spread_balances' | 'spread_balances_back' | 'spread_lists';

/** Addresses in one answer. */
const TOGETHER_MAX = 2;

type Half = readonly string[];

/** Which addresses are read before that block, and which after it. */
export function spreadOf(faults: readonly string[], addresses: readonly string[]): [now: Half, later: Half] {
  const middle = (addresses.length + 1) >>> 1;
  const [first, second] = [addresses.slice(0, middle), addresses.slice(middle)];
  const isList = faults.includes('spread_lists' satisfies BalanceFault) && addresses.length > TOGETHER_MAX;
  if (isList || faults.includes('spread_balances' satisfies BalanceFault)) return [first, second];
  if (faults.includes('spread_balances_back' satisfies BalanceFault)) return [second, first];
  return [addresses, []];
}
