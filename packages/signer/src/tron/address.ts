import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check } from '@scure/base';
import { addressOf } from '../address.ts';
import { concat, fromHex, type Hex } from '../bytes.ts';

const base58check = createBase58check(sha256);
const PREFIX = Uint8Array.of(0x41);
/** Of the prefix and the account. */
export const TRON_ADDRESS_BYTES = 21;

/** An address as the network's bytes hold it: the prefix 0x41, then the 20 bytes that the same key has on Ethereum. */
export function tronAddressOf(bytes: Uint8Array): string {
  if (bytes.length !== TRON_ADDRESS_BYTES || bytes[0] !== PREFIX[0])
    throw new RangeError('a Tron address has 21 bytes, of which the first is 41');
  return base58check.encode(bytes);
}

/** @returns the 21 bytes of an address in base58check; undefined for any other text, also where its sum is wrong */
export function readTronAddress(text: string): Uint8Array | undefined {
  if (!/^T[1-9A-HJ-NP-Za-km-z]{33}$/.test(text)) return undefined;
  try {
    const bytes = base58check.decode(text);
    return bytes.length === TRON_ADDRESS_BYTES && bytes[0] === PREFIX[0] ? bytes : undefined;
  } catch {
    return undefined;
  }
}

/** @throws RangeError */
export function tronAddressBytes(text: string): Uint8Array {
  const bytes = readTronAddress(text);
  if (bytes === undefined) throw new RangeError(`${text} is not a Tron address`);
  return bytes;
}

/** As a contract's code sees it: `0x…`. @throws RangeError */
export const accountOfTron = (address: string): Hex => addressOf(tronAddressBytes(address).subarray(1));

/** The address on Tron of `0x…`. */
export const tronOfAccount = (account: string): string =>
  tronAddressOf(concat(PREFIX, fromHex(account.toLowerCase())));
