// The books expect one sum of a currency on a network, spread over many addresses. Each deposit address is compared with its
// own range, and the hot wallet with the rest, so that extra coins at one address never offset missing coins at another.
// Where a network shows its balances as of several blocks, each address is as of any of these: what moved in them may be seen
// at both ends, at one or at none.

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
    /** Swept in these blocks: seen here and at the deposit address, or at neither. */
    swept: bigint;
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
  let [least, most] = [expected - hot.outgoing - hot.swept, expected + hot.incoming + hot.swept];
  for (const { address, found, min, max, arriving } of deposits) {
    const inRange = clamp(found, min, max + arriving);
    // What is seen of the arriving coins is not expected anywhere; what is not may be coins of a sweep under way.
    least += clamp(inRange - max, 0n, arriving) - inRange;
    most += clamp(inRange - min, 0n, arriving) - inRange;
    if (found !== inRange) mismatches.push({ address, expected: inRange, found });
  }
  if (hot.found < least) mismatches.push({ address: hot.address, expected: least, found: hot.found });
  const beyond = hot.found - most;
  return { mismatches, surplus: beyond > 0n ? beyond : 0n };
}

const clamp = (amount: bigint, min: bigint, max: bigint) =>
  amount < min ? min : amount > max ? max : amount;
