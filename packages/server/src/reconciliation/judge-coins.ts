// What the books expect of a currency on a network is one sum, while its coins lie in many places. Each deposit address is
// judged by itself and the hot wallet by the rest, so that coins too many in one place never make up for coins that are
// missing in another.

/** What lies at a deposit address, and between what the books expect it. */
export interface DepositCoins {
  address: string;
  found: bigint;
  /** Credited there, in no sweep. */
  least: bigint;
  /** With what sweeps take that are not over: it lies here or in the hot wallet by now. */
  most: bigint;
}

/** Coins of one currency on one network, as of one block. */
export interface PlacedCoins {
  /** What the books expect of all places together. */
  expected: bigint;
  hot: {
    address: string;
    found: bigint;
    /** What charges under way may have brought into it already. */
    incoming: bigint;
  };
  deposits: readonly DepositCoins[];
}

export interface Mismatch {
  address: string;
  expected: bigint;
  found: bigint;
}

export interface Judgement {
  /** Coins that are missing, and coins at a deposit address that nobody was credited for. */
  mismatches: Mismatch[];
  /** Coins in the hot wallet that nothing in the books has brought: a stranger's. */
  surplus: bigint;
}

export function judgeCoins({ expected, hot, deposits }: PlacedCoins): Judgement {
  const mismatches: Mismatch[] = [];
  let rest = expected;
  for (const { address, found, least, most } of deposits) {
    const due = found < least ? least : found > most ? most : found;
    rest -= due;
    if (found !== due) mismatches.push({ address, expected: due, found });
  }
  if (hot.found < rest) mismatches.push({ address: hot.address, expected: rest, found: hot.found });
  const beyond = hot.found - rest - hot.incoming;
  return { mismatches, surplus: beyond > 0n ? beyond : 0n };
}
