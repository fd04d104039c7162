import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import {
  isSignature,
  NONCE_HEADER,
  SIGNATURE_HEADER,
  signedPrefix,
  TIMESTAMP_HEADER,
} from '@florin/contract/signing';

export interface Stamp {
  /** Unix seconds. */
  readonly timestamp: string;
  /** 16 to 64 visible ASCII characters. */
  readonly nonce: string;
}

/**
 * A stamp serves one attempt only: a repeated request needs a new one.
 *
 * @example
 * ```ts
 * const { timestamp, nonce } = freshStamp();
 * ```
 */
export function freshStamp(): Stamp {
  return { timestamp: String(Math.floor(Date.now() / 1000)), nonce: randomUUID() };
}

/** Lower-case hex HMAC-SHA256 of the parts one after the other; a text secret counts as its UTF-8 bytes. */
export function hmacHex(secret: string | Uint8Array, parts: readonly Uint8Array[]): string {
  const hmac = createHmac('sha256', secret);
  for (const part of parts) hmac.update(part);
  return hmac.digest('hex');
}

/**
 * The three signature headers over exactly these body bytes (spec section 5, and 6 for webhooks).
 *
 * @example
 * ```ts
 * const body = new TextEncoder().encode(JSON.stringify({ amount: 499, currency: 'USD' }));
 * const headers = signatureHeaders('the secret key', body, freshStamp());
 * ```
 */
export function signatureHeaders(secret: string, body: Uint8Array, stamp: Stamp): Record<string, string> {
  return {
    [TIMESTAMP_HEADER]: stamp.timestamp,
    [NONCE_HEADER]: stamp.nonce,
    [SIGNATURE_HEADER]: hmacHex(secret, [signedPrefix(stamp.timestamp, stamp.nonce), body]),
  };
}

/** Compares in constant time; anything but 64 lower-case hex digits is unequal. */
export function sameSignature(given: string, expected: string): boolean {
  if (!isSignature(given) || !isSignature(expected)) return false;
  return timingSafeEqual(Buffer.from(given, 'hex'), Buffer.from(expected, 'hex'));
}
