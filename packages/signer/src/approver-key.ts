import { ed25519 } from '@noble/curves/ed25519.js';
import { readAddress, ZERO_ADDRESS } from './address.ts';
import { fromHex } from './bytes.ts';

/** A key that signs the statement itself. */
interface SigningKey {
  kind: 'ed25519' | 'ethereum';
  /** Of Ed25519 the public key, hex; of Ethereum the address. */
  key: string;
}

/** A passkey of WebAuthn: it signs for one name, and browsers say on which page. */
export interface PasskeyKey {
  kind: 'passkey';
  /** The public key, SubjectPublicKeyInfo as DER, hex. */
  key: string;
  /** The relying party, such as `console.example.com`. */
  rpId: string;
  /** Of the pages that may ask for it, such as `https://console.example.com`. */
  origin: string;
}

/** By which an approver's signature is known. */
export type ApproverKey = SigningKey | PasskeyKey;

/** A person, by one of their keys. */
export type Approver = ApproverKey & { name: string };

/** What a passkey has signed, as a browser gave it, hex: the challenge in it is the statement. */
export interface PasskeyParts {
  authenticatorData: string;
  clientDataJSON: string;
}

/** An Ed25519 public key as DER, up to its 32 bytes. */
export const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');

/** An Ed25519 public key as 0x and 64 hex digits, or an Ethereum address; undefined where the text is neither. */
export function readApproverKey(text: string): SigningKey | undefined {
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
