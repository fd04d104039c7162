import { secp256k1 } from '@noble/curves/secp256k1.js';
import { fromHex, type Hex, keccak, toHex } from './bytes.ts';

const ADDRESS_BYTES = 20;
const UTF8 = new TextEncoder();

export const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;

/** The address of 20 bytes with EIP-55 checksum, the form in which addresses are compared here. */
export function addressOf(bytes: Uint8Array): Hex {
  if (bytes.length !== ADDRESS_BYTES) throw new RangeError('an address has 20 bytes');
  const digits = toHex(bytes).slice(2);
  const checksum = toHex(keccak(UTF8.encode(digits))).slice(2);
  const letters = [...digits].map((digit, i) => ((checksum[i] ?? '0') >= '8' ? digit.toUpperCase() : digit));
  return `0x${letters.join('')}`;
}

/**
 * Reads an address with its EIP-55 checksum, or all in lower case.
 *
 * @returns it with its checksum; undefined where it is not an address or its checksum is wrong
 */
export function readAddress(text: string): string | undefined {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return undefined;
  const address = addressOf(fromHex(text.toLowerCase()));
  return text === address || text === text.toLowerCase() ? address : undefined;
}

/** @throws RangeError */
export function addressBytes(text: string): Uint8Array {
  const address = readAddress(text);
  if (address === undefined) throw new RangeError(`${text} is not an Ethereum address`);
  return fromHex(address.toLowerCase());
}

/** @param publicKey of secp256k1, compressed or not */
export function addressOfKey(publicKey: Uint8Array): string {
  const point = secp256k1.Point.fromBytes(publicKey).toBytes(false);
  return addressOf(keccak(point.subarray(1)).subarray(12));
}
