// The books expect one sum of a currency on a network, spread over many addresses. Each deposit address is compared with its
// own range, and the hot wallet with the rest, so that extra coins at one address never offset missing coins at another.
// Where a network shows its balances as of several blocks, each address is as of any of these: what moved in them may be seen
// at both ends, at one or at none. Each address explains what itself has moved, in the direction that it shows, and nothing else; what is
// explained so, and could be missing as well, is said (`hidden`).

/** Found coins of a deposit address, and the expected range. */
export interface DepositCoins {
  address: string;
  found: bigint;
  /** Credited coins that are in no sweep. */
  min: bigint;
  /** Plus coins of sweeps under way, which are here or already in the hot wallet. */
  max: bigint;
  /** Not credited yet, and arrived in the blocks that the balances are as of: here or not. */
  arriving: bigint;
  /** Swept in these blocks, where it is as of another one than the hot wallet: seen here and there, or at neither. */
  moving: bigint;
}

/** Coins of one currency on one network, as of one block or some of a range. */
export interface NetworkCoins {
  /** The sum that the books expect over all addresses, without what is `arriving`. */
  expected: bigint;
  hot: {
    address: string;
    found: bigint;
    /** Coins of charges under way, which may have arrived. */
    incoming: bigint;
    /** Paid in the blocks that the balances are as of: still here or not. */
    outgoing: bigint;
    /** Moved between two hot wallets in these blocks: seen at both, or at neither. */
    moving: bigint;
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
  /** As much may be missing and is explained by what moved in the blocks of the balances; 0 where nothing did. */
  hidden: bigint;
}

export function compareCoins({ expected, hot, deposits }: NetworkCoins): CoinDifferences {
  const mismatches: Mismatch[] = [];
  // What the hot wallet holds where everything is seen at both ends; where it is seen at the deposit addresses alone, or twice.
  let [even, less, twice, unseen] = [expected, hot.moving, hot.moving, 0n];
  let most = expected + hot.incoming;
  for (const { address, found, min, max, arriving, moving } of deposits) {
    const inRange = clamp(found, min, max + arriving);
    // What is seen of the arriving coins is not expected anywhere; what is not may be coins of a sweep under way.
    const arrived = clamp(inRange - max, 0n, arriving);
    even += arrived - inRange;
    most += clamp(inRange - min, 0n, arriving) - inRange;
    // What has left by now may not have come to the hot wallet when that was read; what is still here may be there as well.
    less += least(moving, max + arriving - inRange);
    twice += least(moving, inRange - min);
    // Coins that came may be here, and as many others missing.
    unseen += arriving - arrived;
    if (found !== inRange) mismatches.push({ address, expected: inRange, found });
  }
  const fewest = even - hot.outgoing - less;
  if (hot.found < fewest) mismatches.push({ address: hot.address, expected: fewest, found: hot.found });
  const beyond = hot.found - most - twice;
  const explained = even + twice - greatest(hot.found, fewest);
  return {
    mismatches,
    surplus: greatest(beyond, 0n),
    hidden: unseen + greatest(explained, 0n),
  };
}

const least = (a: bigint, b: bigint) => (a < b ? a : b);
const greatest = (a: bigint, b: bigint) => (a > b ? a : b);

const clamp = (amount: bigint, min: bigint, max: bigint) =>
  amount < min ? min : amount > max ? max : amount;
