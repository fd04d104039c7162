import { pointCompress } from 'tiny-secp256k1';
import { keccak256 } from './keccak.ts';

/** Bytes of an account on EVM and on Tron, which took it over. */
export const ACCOUNT_BYTES = 20;

/**
 * Refused on both: 0x00…00 to 0x00…ff, the addresses of precompiled contracts (0x01 to 0x11 today, and each upgrade adds
 * some). Nobody can hold a key for such an address, and tokens sent to it are gone; the range leaves room for new ones.
 */
const LOWEST_OPEN_ACCOUNT = '100'.padStart(2 * ACCOUNT_BYTES, '0');
/** Where people burn tokens. */
const BURN_ACCOUNTS = new Set([
  '0'.repeat(2 * ACCOUNT_BYTES),
  'dead'.padStart(2 * ACCOUNT_BYTES, '0'),
  // A placeholder that libraries use for the native coin; it ends up in recipient fields by mistake.
  'e'.repeat(2 * ACCOUNT_BYTES),
]);

/**
 * `zero` for accounts without an owner, `program` for precompiled contracts, undefined for all others.
 *
 * @param account 40 small hex digits
 */
export function findReservedAccount(account: string): 'zero' | 'program' | undefined {
  if (BURN_ACCOUNTS.has(account)) return 'zero';
  return account < LOWEST_OPEN_ACCOUNT ? 'program' : undefined;
}

/** The account of a secp256k1 public key (any encoding): the last 20 bytes of its keccak-256. */
export function accountOfPublicKey(publicKey: Uint8Array): Uint8Array {
  return keccak256(pointCompress(publicKey, false).subarray(1)).subarray(-ACCOUNT_BYTES);
}
