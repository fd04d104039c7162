import { createPublicKey, verify } from 'node:crypto';
import { parseSplAddress } from '../addresses/spl.ts';
import type { SignedText } from '../live-chains.ts';

const SIGNATURE = /^0x[0-9a-f]{128}$/i;

/** Whether the key of that address signed the text (Ed25519 over its UTF-8 bytes, as `solana:signMessage` does). */
export function isSignedText({ address, text, signature }: SignedText): boolean {
  const key = parseSplAddress(address);
  if (key === undefined || !SIGNATURE.test(signature)) return false;
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(key).toString('base64url') };
  try {
    const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
    return verify(null, Buffer.from(text), publicKey, Buffer.from(signature.slice(2), 'hex'));
  } catch {
    // Bytes that are no point of the curve.
    return false;
  }
}
