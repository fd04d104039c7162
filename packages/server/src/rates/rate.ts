/** Rates have at most this many decimals; computed ones are rounded down to them. */
const DECIMALS_MAX = 12;
/** Above the price of a token in any currency, and far from any limit of the computations. */
const RATE_LIMIT = 10n ** 12n;
const BASIS_POINTS_PER_WHOLE = 10_000n;
/** A JSON number without a sign. */
const DECIMAL = /^(\d{1,40})(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,2}))?$/;

/**
 * The price of one token in a currency, never zero: `units / 10^scale`, an exact decimal without trailing zeros. Only
 * `parseRate` and the functions of this file make one.
 */
export interface Rate {
  readonly units: bigint;
  readonly scale: number;
}

/** @throws RangeError for zero, and for values too small or too large to be a rate */
function rateOf(units: bigint, scale: number): Rate {
  let [kept, decimals] =
    scale > DECIMALS_MAX
      ? [units / 10n ** BigInt(scale - DECIMALS_MAX), DECIMALS_MAX]
      : [units, Math.max(scale, 0)];
  if (scale < 0) kept *= 10n ** BigInt(-scale);
  if (kept <= 0n || kept >= RATE_LIMIT * 10n ** BigInt(decimals)) throw new RangeError('rate out of range');
  while (decimals > 0 && kept % 10n === 0n) {
    kept /= 10n;
    decimals--;
  }
  return { units: kept, scale: decimals };
}

/**
 * Parses a rate as stored, shown or answered by a provider: `"0.92"`, `"1e-3"`; decimals beyond the twelfth are dropped.
 *
 * @throws RangeError unless the text is a number above zero and below 10^12
 */
export function parseRate(text: string): Rate {
  const [form, whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? [];
  if (form === undefined) throw new RangeError('rate must be a decimal number above zero');
  return rateOf(BigInt(whole + fraction), fraction.length - Number(exponent));
}

/** The decimal string of an `exchange_rate`: `"0.92"`, `"1"`. */
export function formatRate({ units, scale }: Rate): string {
  if (scale === 0) return units.toString();
  const digits = units.toString().padStart(scale + 1, '0');
  return `${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** Both with the same number of decimals. */
function unitsOf(a: Rate, b: Rate): [bigint, bigint] {
  const scale = Math.max(a.scale, b.scale);
  return [a.units * 10n ** BigInt(scale - a.scale), b.units * 10n ** BigInt(scale - b.scale)];
}

/** Whether a rate differs by more than so many hundredths of a percent from the one before it, up or down. */
export function movedBeyond(now: Rate, before: Rate, basisPoints: number): boolean {
  const [a, b] = unitsOf(now, before);
  const distance = a > b ? a - b : b - a;
  return distance * BASIS_POINTS_PER_WHOLE > b * BigInt(basisPoints);
}

/** The price of one token in another, from their prices in the same currency. */
export function crossRate(token: Rate, other: Rate): Rate {
  const [a, b] = unitsOf(token, other);
  return rateOf((a * 10n ** BigInt(DECIMALS_MAX)) / b, DECIMALS_MAX);
}

/** The rates from the lowest to the highest. */
export function sortedRates(rates: readonly Rate[]): Rate[] {
  return rates.toSorted((one, other) => {
    const [a, b] = unitsOf(one, other);
    return a < b ? -1 : Number(a > b);
  });
}

/** The median; for an even number the mean of the two in the middle. @throws RangeError for an empty list */
export function medianRate(rates: readonly Rate[]): Rate {
  const sorted = sortedRates(rates);
  const low = sorted[(sorted.length - 1) >> 1];
  const high = sorted[sorted.length >> 1];
  if (low === undefined || high === undefined) throw new RangeError('no rates');
  const [a, b] = unitsOf(low, high);
  return rateOf((a + b) * 5n, Math.max(low.scale, high.scale) + 1);
}
