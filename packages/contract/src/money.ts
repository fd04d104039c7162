/**
 * Money of the two stablecoins. Inside the service it is a bigint in base units (6 digits: 1 token =
 * 1,000,000 units); on payout paths it is written as a decimal string with at most two decimals.
 */

export const ASSETS = ['USDT', 'USDC'] as const;
export type Asset = (typeof ASSETS)[number];

export const NETWORKS = ['erc20', 'trc20', 'spl'] as const;
export type Network = (typeof NETWORKS)[number];

/** The network of a name that was stored or joined by us. @throws Error for any other */
export function networkNamed(name: unknown): Network {
  const network = NETWORKS.find((known) => known === name);
  if (network === undefined) throw new Error(`${String(name)} is not a network`);
  return network;
}

/** Digits after the point of a base unit, for both assets on every network. */
export const ASSET_DECIMALS = 6;
/** Base units in one token and in one cent, the smallest step of a payout string. */
export const UNITS_PER_TOKEN = 1_000_000n;
export const UNITS_PER_CENT = 10_000n;

/** Spec 4.2, an item's amount: greater than 0, at most two decimals. The source text, as JSON Schema wants it. */
export const AMOUNT_PATTERN = '^(?:0\\.(?:0[1-9]|[1-9][0-9]?)|[1-9][0-9]*(?:\\.[0-9]{1,2})?)$';
/** Spec 2.9, sums and fees: zero allowed, at most two decimals. */
export const NON_NEGATIVE_AMOUNT_PATTERN = '^(0|[1-9][0-9]*)(\\.[0-9]{1,2})?$';

/**
 * No sum of money is written longer. A longer text is refused before any work on it: to read a million digits as one
 * number takes a tenth of a second.
 */
export const AMOUNT_LENGTH_MAX = 40;

const AMOUNT = new RegExp(AMOUNT_PATTERN);
const NON_NEGATIVE_AMOUNT = new RegExp(NON_NEGATIVE_AMOUNT_PATTERN);
const TOKENS = /^(0|[1-9][0-9]*)(\.[0-9]{1,6})?$/;
const BASIS_POINTS_PER_WHOLE = 10_000n;

/** An item's amount (`"12.5"`, greater than 0) in base units. Throws a RangeError on any other text. */
export function parseAmount(text: string): bigint {
  return toUnits(text, AMOUNT, 'a decimal greater than 0 with at most two decimals, such as "12.50"');
}

/** A sum or fee (`"0.00"` allowed) in base units. Throws a RangeError on any other text. */
export function parseNonNegativeAmount(text: string): bigint {
  return toUnits(
    text,
    NON_NEGATIVE_AMOUNT,
    'a decimal of at least 0 with at most two decimals, such as "0.00"',
  );
}

/** A number of tokens with up to all six decimals (`"0.000001"`) in base units. Throws a RangeError on any other text. */
export function parseTokens(text: string): bigint {
  return toUnits(text, TOKENS, 'a decimal of at least 0 with at most six decimals, such as "0.000001"');
}

function toUnits(text: string, form: RegExp, expected: string): bigint {
  // The check of the type is for callers without types: a number would pass the pattern as its text.
  if (typeof text !== 'string' || text.length > AMOUNT_LENGTH_MAX || !form.test(text))
    throw new RangeError(`amount must be ${expected}, of ${AMOUNT_LENGTH_MAX} characters at most`);
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(ASSET_DECIMALS, '0'));
}

/**
 * Base units as a payout string, always with two decimals: 1000000n → `"1.00"`. Throws a RangeError below zero
 * and for anything but whole cents: rounding here would make a sum differ from its parts without a word.
 */
export function formatAmount(units: bigint): string {
  if (units < 0n) throw new RangeError(`a payout amount is never negative: ${units} units`);
  if (units % UNITS_PER_CENT !== 0n) throw new RangeError(`not a whole number of cents: ${units} units`);
  const cents = (units / UNITS_PER_CENT).toString().padStart(3, '0');
  return `${cents.slice(0, -2)}.${cents.slice(-2)}`;
}

/** Base units as a wallet takes them: all digits that are not 0, and two decimals at least: 1500000n → `"1.50"`. */
export function formatTokens(units: bigint): string {
  const fraction = (units % UNITS_PER_TOKEN).toString().padStart(ASSET_DECIMALS, '0');
  return `${units / UNITS_PER_TOKEN}.${fraction.replace(/0{1,4}$/, '')}`;
}

/**
 * Service fee of one item in base units: the network's flat fee plus basis points of the amount, the sum rounded
 * up to the cent once, so that the operator never pays a part of a fee and no rounding is added to another.
 */
export function feeOf(amount: bigint, flatUnits: bigint, basisPoints: number): bigint {
  const whole = Number.isInteger(basisPoints) && basisPoints >= 0;
  if (amount < 0n || flatUnits < 0n || !whole)
    throw new RangeError('a fee is made of whole numbers of at least 0');
  const exact = amount * BigInt(basisPoints) + flatUnits * BASIS_POINTS_PER_WHOLE;
  const exactPerCent = UNITS_PER_CENT * BASIS_POINTS_PER_WHOLE;
  return ((exact + exactPerCent - 1n) / exactPerCent) * UNITS_PER_CENT;
}
