import { keccak_256 } from '@noble/hashes/sha3.js';

/** Hex in lower case with 0x. */
export type Hex = `0x${string}`;

export function toHex(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes).toString('hex')}`;
}

/** @throws RangeError unless it is hex in lower case with 0x, of whole bytes */
export function fromHex(text: string): Uint8Array {
  if (!/^0x(?:[0-9a-f]{2})*$/.test(text))
    throw new RangeError('must be hex in lower case with 0x, of whole bytes');
  return Uint8Array.from(Buffer.from(text.slice(2), 'hex'));
}

export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts));
}

export function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

/** Big-endian without leading zeros: 0 has no bytes. */
export function bytesOf(number: bigint): Uint8Array {
  if (number === 0n) return new Uint8Array();
  const hex = number.toString(16);
  return Uint8Array.from(Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex'));
}

/** Big-endian. */
export function numberOf(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(toHex(bytes));
}

export function keccak(...parts: readonly Uint8Array[]): Uint8Array {
  return keccak_256(concat(...parts));
}
