import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check } from '@scure/base';
import type { AddressCheck, AddressFault } from '../port/port.ts';
import { ACCOUNT_BYTES, findReservedAccount } from './evm-account.ts';
import { isTokenContract } from './token-contracts.ts';

const FORM = /^T[1-9A-HJ-NP-Za-km-z]{33}$/;
const PREFIX = 0x41;
/** Tron's burn account ("black hole"): the protocol itself sends burnt coins there. */
const BLACK_HOLE = 'TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy';

const base58check = createBase58check(sha256);

/** Prefix 0x41 and the account's 20 bytes in base58check. */
export function formatTrc20Address(account: Uint8Array): string {
  return base58check.encode(Uint8Array.from([PREFIX, ...account]));
}

/** The account's 20 bytes; undefined when the checksum, the length or the prefix is wrong. */
export function parseTrc20Address(address: string): Uint8Array | undefined {
  try {
    const bytes = base58check.decode(address);
    return bytes.length === ACCOUNT_BYTES + 1 && bytes[0] === PREFIX ? bytes.subarray(1) : undefined;
  } catch {
    return undefined;
  }
}

/** Only the base58check form: the hex form (`41…`) has no checksum. There is one spelling, so canonical is the text. */
export function checkTrc20Address(address: string): AddressCheck {
  const refuse = (code: AddressFault): AddressCheck => ({
    ok: false,
    canonical: address,
    code,
    warnings: [],
  });
  if (!FORM.test(address)) return refuse('format');
  const account = parseTrc20Address(address);
  if (account === undefined) return refuse('checksum');
  if (address === BLACK_HOLE) return refuse('zero');
  const reserved = findReservedAccount(Buffer.from(account).toString('hex'));
  if (reserved !== undefined) return refuse(reserved);
  if (isTokenContract('trc20', address)) return refuse('token_contract');
  return { ok: true, canonical: address, warnings: [] };
}
