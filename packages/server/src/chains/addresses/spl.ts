import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import type { AddressCheck, AddressFault } from '../port/port.ts';
import { isTokenContract } from './token-contracts.ts';

const FORM = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const KEY_BYTES = 32;

/**
 * Programs that people paste by mistake. Being on the curve proves nothing here: programs are deployed at ordinary
 * keys. Source: the address lists of the Solana Program Library; Memo4c2p… is what @solana-program/memo 0.15 uses.
 */
const PROGRAMS = new Set([
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
  'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'Memo4c2pN8afCj432Lb7RMVKi9PbQnnW7ewFFaV3oAH',
]);
const SYSTEM_PROGRAM = '1'.repeat(KEY_BYTES);
const BURN = '1nc1nerator11111111111111111111111111111111';
/**
 * Sysvars, native programs and loaders are names padded with `1`: Sysvar…, Vote111…, ComputeBudget111…, also those that
 * a later release adds. A random key ends in ten of them once in 10^17, so the ending alone gives them away.
 */
const RESERVED_NAME = /1{10}$/;

/** base58 of the 32 bytes of a key. */
export function formatSplAddress(key: Uint8Array): string {
  return base58.encode(key);
}

/** The key's 32 bytes; undefined for any other text. */
export function parseSplAddress(address: string): Uint8Array | undefined {
  if (!FORM.test(address)) return undefined;
  const bytes = base58.decode(address);
  return bytes.length === KEY_BYTES ? bytes : undefined;
}

function decompress(key: Uint8Array): ReturnType<typeof ed25519.Point.fromBytes> | undefined {
  try {
    // The lenient rule (ZIP 215) is the one by which validators decide what is on the curve.
    return ed25519.Point.fromBytes(key, true);
  } catch {
    return undefined;
  }
}

/**
 * An off-curve key belongs to a program: most often it is a token account that someone took for a wallet, and tokens
 * sent to its address are stuck. Multisig vaults are off the curve as well, hence `allowProgramOwned`. Nothing in the
 * 32 bytes is a checksum: a mistyped address is nearly half the time another valid one.
 */
export function checkSplAddress(address: string, allowProgramOwned = false): AddressCheck {
  const refuse = (code: AddressFault): AddressCheck => ({
    ok: false,
    canonical: address,
    code,
    warnings: [],
  });
  const key = parseSplAddress(address);
  if (key === undefined) return refuse('format');
  if (address === BURN) return refuse('zero');
  if (address === SYSTEM_PROGRAM || PROGRAMS.has(address) || RESERVED_NAME.test(address))
    return refuse('program');
  if (isTokenContract('spl', address)) return refuse('token_contract');
  const point = decompress(key);
  if (point === undefined) {
    return allowProgramOwned
      ? { ok: true, canonical: address, warnings: ['program_owned'] }
      : refuse('token_account');
  }
  // The eight points of small order are keys that everybody or nobody can sign for.
  if (point.isSmallOrder()) return refuse('zero');
  return { ok: true, canonical: address, warnings: [] };
}
