import { ed25519 } from '@noble/curves/ed25519.js';
import { readAddress, ZERO_ADDRESS } from './address.ts';
import { fromHex } from './bytes.ts';

/** By which an approver's signature is known. */
export interface ApproverKey {
  kind: 'ed25519' | 'ethereum';
  /** Of Ed25519 the public key, hex; of Ethereum the address. */
  key: string;
}

/** An Ed25519 public key as 0x and 64 hex digits, or an Ethereum address; undefined where the text is neither. */
export function readApproverKey(text: string): ApproverKey | undefined {
  if (/^0x[0-9a-f]{64}$/.test(text)) return isSoundKey(text) ? { kind: 'ed25519', key: text } : undefined;
  const address = readAddress(text);
  return address === undefined || address === ZERO_ADDRESS ? undefined : { kind: 'ethereum', key: address };
}

/** Points of small order have signatures that anybody can make. */
export function isSoundKey(publicKey: string): boolean {
  try {
    return !ed25519.Point.fromBytes(fromHex(publicKey)).isSmallOrder();
  } catch {
    return false;
  }
}
