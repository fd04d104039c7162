/** A hot wallet of that epoch, which another has taken the place of. */
export type RotatedKeyRef = `hot:${number}`;

/** The deposit address with that number. */
export type DepositKeyRef = `deposit:${number}`;

/**
 * One of our keys: of the wallet that pays out, of the wallet that did so in an earlier epoch, of the deposit address with that
 * number, or of the installation's gas tank, which all merchants share: it tops hot wallets up and sends sweeps.
 */
export type KeyRef = 'hot' | 'tank' | RotatedKeyRef | DepositKeyRef;

/** The number of the deposit address that a key is of; null for every other key. */
export const depositIndexOf = (keyRef: KeyRef): number | null => numberAfter('deposit:', keyRef);

/** The epoch of a rotated hot wallet; null for every other key, the present hot wallet's too. */
export const rotatedEpochOf = (keyRef: KeyRef): number | null => numberAfter('hot:', keyRef);

function numberAfter(prefix: string, keyRef: KeyRef): number | null {
  if (!keyRef.startsWith(prefix)) return null;
  const digits = keyRef.slice(prefix.length);
  if (!/^(?:0|[1-9][0-9]{0,9})$/.test(digits)) throw new RangeError(`${keyRef} names no key`);
  return Number(digits);
}
