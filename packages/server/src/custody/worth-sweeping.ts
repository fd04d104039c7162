// Whether coins are worth their sweep. The fee is ours, the coins are the merchant's and safe where they are: a sweep is
// only worth it where it costs little of them, or where they have lain for long.

/** Of the coins' worth: one part in so many may go for the fee, and after a week one in ten. */
const COST_SHARE = 100n;
const OLD_COST_SHARE = 10n;
const OLD_SECONDS = 7 * 86_400;
/** Where no price of the network's coin is known, so many together in one transaction are worth it, or a day. */
const COUNT_WITHOUT_PRICE = 8;
const SECONDS_WITHOUT_PRICE = 86_400;

export interface Swept {
  /** Unswept coins, in units of six digits, which are about dollars. */
  amount: bigint;
  /** When the oldest of them was credited. */
  since: number;
}

interface Terms {
  /** Of a sweep of all of them together, in units of a dollar; undefined: nobody knows. */
  cost: bigint | undefined;
  nowSeconds: number;
  /** A payment waits for the coins. */
  isUrgent: boolean;
  /** Whether many addresses share the fee of one transaction. */
  isShared: boolean;
  /** The least that is swept for a payment while nobody knows what it costs. */
  floor: bigint;
}

/** Those that are swept now, with the largest first among equals in what they cost: each costs the same. */
export function selectWorthy<T extends Swept>(
  addresses: readonly T[],
  { cost, nowSeconds, isUrgent, isShared, floor }: Terms,
): readonly T[] {
  const ageOf = ({ since }: T) => nowSeconds - since;
  if (cost === undefined) {
    if (isUrgent) return addresses.filter(({ amount }) => amount >= floor);
    const isOld = (one: T) => ageOf(one) >= SECONDS_WITHOUT_PRICE;
    if (!isShared) return addresses.filter(isOld);
    return addresses.length >= COUNT_WITHOUT_PRICE || addresses.some(isOld) ? addresses : [];
  }
  const each = addresses.length === 0 ? 0n : cost / BigInt(addresses.length);
  return addresses.filter((one) => {
    if (isUrgent) return one.amount > each;
    return one.amount >= each * (ageOf(one) >= OLD_SECONDS ? OLD_COST_SHARE : COST_SHARE);
  });
}

const REST_MIN_SECONDS = 600;
const REST_MAX_SECONDS = 86_400;

/** Sweeps of an address that moved nothing, since the last one that did. */
export interface FailedSweeps {
  count: number;
  /** When the newest was decided. */
  lastAt: number;
}

/**
 * Whether an address is left alone for a while: each transaction costs its fee, and what has failed twice, as of an address
 * that the token's issuer has blocked, will most likely fail again.
 */
export function isResting({ count, lastAt }: FailedSweeps, nowSeconds: number): boolean {
  if (count < 2) return false;
  const seconds = Math.min(REST_MAX_SECONDS, REST_MIN_SECONDS * 2 ** (count - 1));
  return nowSeconds < lastAt + seconds;
}
