import { ed25519 } from '@noble/curves/ed25519.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { base58 } from '@scure/base';
import { concat } from '../bytes.ts';

export const SOLANA_KEY_BYTES = 32;

export const SYSTEM_PROGRAM = '1'.repeat(32);
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const TOKEN_ACCOUNT_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
export const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
export const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111';

const PDA_MARKER = new TextEncoder().encode('ProgramDerivedAddress');

export const solanaAddressOf = (key: Uint8Array): string => base58.encode(key);

/** @returns the 32 bytes of an address; undefined for any other text */
export function readSolanaAddress(text: string): Uint8Array | undefined {
  if (!/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text)) return undefined;
  const bytes = base58.decode(text);
  return bytes.length === SOLANA_KEY_BYTES ? bytes : undefined;
}

/** @throws RangeError */
export function solanaAddressBytes(text: string): Uint8Array {
  const bytes = readSolanaAddress(text);
  if (bytes === undefined) throw new RangeError(`${text} is not a Solana address`);
  return bytes;
}

/** Whether a key can be some wallet's; addresses of programs' accounts are chosen so that they cannot. */
export function isOnCurve(key: Uint8Array): boolean {
  try {
    // The lenient rule (ZIP 215) is the one by which validators decide.
    ed25519.Point.fromBytes(key, true);
    return true;
  } catch {
    return false;
  }
}

/** Whether a key of the curve is one of the eight that everybody or nobody can sign for. */
export const isSmallOrder = (key: Uint8Array): boolean => ed25519.Point.fromBytes(key, true).isSmallOrder();

const tokenAccounts = new Map<string, string>();
const TOKEN_ACCOUNTS_KEPT = 10_000;

/** The account in which an owner holds a token, unless it asks otherwise: derived from both. @throws RangeError */
export function tokenAccountOf(owner: string, mint: string): string {
  const name = `${owner} ${mint}`;
  const known = tokenAccounts.get(name);
  if (known !== undefined) return known;
  const seeds = concat(...[owner, TOKEN_PROGRAM, mint].map(solanaAddressBytes));
  const program = solanaAddressBytes(TOKEN_ACCOUNT_PROGRAM);
  for (let bump = 255; bump >= 0; bump--) {
    const key = sha256(concat(seeds, Uint8Array.of(bump), program, PDA_MARKER));
    if (isOnCurve(key)) continue;
    if (tokenAccounts.size >= TOKEN_ACCOUNTS_KEPT) tokenAccounts.clear();
    const address = solanaAddressOf(key);
    tokenAccounts.set(name, address);
    return address;
  }
  throw new RangeError(`${owner} has no account of ${mint}`);
}
