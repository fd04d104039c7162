import type { AddressCheck, AddressFault } from '../port/port.ts';
import { findReservedAccount } from './evm-account.ts';
import { keccak256 } from './keccak.ts';
import { isTokenContract } from './token-contracts.ts';

const FORM = /^0x[0-9a-fA-F]{40}$/;
/** A hex digit of the hash from here on makes the letter at its place a capital (EIP-55). */
const CAPITAL_FROM = 8;
const SMALL_A = 0x61;
const TO_CAPITAL = -0x20;

/** The EIP-55 spelling of an account of 20 bytes. */
export function formatErc20Address(account: Uint8Array): string {
  return toChecksumCase(Buffer.from(account).toString('hex'));
}

/** `hex` is the account in 40 small digits. */
function toChecksumCase(hex: string): string {
  const spelled = Buffer.from(hex, 'latin1');
  const hash = keccak256(spelled);
  // Two digits a byte, the high one first. A loop over bytes: a batch has 200 of these.
  for (let i = 0; i < spelled.length; i++) {
    const digit = spelled[i] ?? 0;
    const byte = hash[i >> 1] ?? 0;
    const hashDigit = i % 2 === 0 ? byte >> 4 : byte & 0xf;
    if (hashDigit >= CAPITAL_FROM && digit >= SMALL_A) spelled[i] = digit + TO_CAPITAL;
  }
  return `0x${spelled.toString('latin1')}`;
}

/**
 * Mixed case must be the EIP-55 checksum. One case carries no checksum and is accepted with the warning `no_checksum`:
 * many wallets and exchanges still hand addresses out that way. Canonical is EIP-55.
 */
export function checkErc20Address(address: string): AddressCheck {
  const refuse = (code: AddressFault): AddressCheck => ({
    ok: false,
    canonical: address,
    code,
    warnings: [],
  });
  if (!FORM.test(address)) return refuse('format');
  const digits = address.slice(2);
  const account = digits.toLowerCase();
  const canonical = toChecksumCase(account);
  const oneCase = digits === account || digits === digits.toUpperCase();
  if (!oneCase && address !== canonical) return refuse('checksum');
  const reserved = findReservedAccount(account);
  if (reserved !== undefined) return refuse(reserved);
  if (isTokenContract('erc20', canonical)) return refuse('token_contract');
  return { ok: true, canonical, warnings: oneCase ? ['no_checksum'] : [] };
}
