// The books expect one sum of a currency on a network, spread over many addresses. Each deposit address is compared with its
// own range, and the hot wallet with the rest, so that extra coins at one address never offset missing coins at another.

/** Found coins of a deposit address, and the expected range. */
export interface DepositCoins {
  address: string;
  found: bigint;
  /** Credited coins that are in no sweep. */
  min: bigint;
  /** Plus coins of sweeps under way, which are here or already in the hot wallet. */
  max: bigint;
}

/** Coins of one currency on one network, as of one block. */
export interface NetworkCoins {
  /** The sum that the books expect over all addresses. */
  expected: bigint;
  hot: {
    address: string;
    found: bigint;
    /** Coins of charges under way, which may have arrived. */
    incoming: bigint;
  };
  deposits: readonly DepositCoins[];
}

export interface Mismatch {
  address: string;
  expected: bigint;
  found: bigint;
}

export interface CoinDifferences {
  /** Missing coins, and coins at deposit addresses that nobody was credited for. */
  mismatches: Mismatch[];
  /** Coins in the hot wallet that the books do not explain: a stranger's. */
  surplus: bigint;
}

export function compareCoins({ expected, hot, deposits }: NetworkCoins): CoinDifferences {
  const mismatches: Mismatch[] = [];
  let rest = expected;
  for (const { address, found, min, max } of deposits) {
    const inRange = found < min ? min : found > max ? max : found;
    rest -= inRange;
    if (found !== inRange) mismatches.push({ address, expected: inRange, found });
  }
  if (hot.found < rest) mismatches.push({ address: hot.address, expected: rest, found: hot.found });
  const beyond = hot.found - rest - hot.incoming;
  return { mismatches, surplus: beyond > 0n ? beyond : 0n };
}
