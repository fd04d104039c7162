import { createHash, createHmac, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import { signedPrefix } from '@florin/contract/signing';
import { base58 } from '@scure/base';

const ID_BYTES = 16;
const SECRET_BYTES = 32;
const API_KEY_FORM = /^fl_(?:test|live)_([1-9A-HJ-NP-Za-km-z]{32,44})$/;

export interface ParsedApiKey {
  merchantId: string;
  digest: Buffer;
}

const uuidOf = (bytes: Uint8Array) =>
  Buffer.from(bytes)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
const marker = (mode: 'sandbox' | 'live') => (mode === 'sandbox' ? 'test' : 'live');

/** What the database keeps of an API key or an approver's token. */
export function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** `fl_test_…`: it carries the merchant's id, so that one look-up on the merchant's shard finds it. */
export function makeApiKey(merchantId: string, mode: 'sandbox' | 'live'): string {
  const merchant = Buffer.from(merchantId.replaceAll('-', ''), 'hex');
  return `fl_${marker(mode)}_${base58.encode(Buffer.concat([merchant, randomBytes(ID_BYTES)]))}`;
}

/** The secret key signs only. Its text, as UTF-8, is the key of the HMAC. */
export function makeSecretKey(mode: 'sandbox' | 'live'): string {
  return `fls_${marker(mode)}_${base58.encode(randomBytes(SECRET_BYTES))}`;
}

/** An approver's token: shown once. */
export function makeApproverToken(): string {
  return `fla_${base58.encode(randomBytes(SECRET_BYTES))}`;
}

/** Undefined for whatever has not the form of an API key. */
export function parseApiKey(text: string): ParsedApiKey | undefined {
  const encoded = API_KEY_FORM.exec(text)?.[1];
  if (encoded === undefined) return undefined;
  const bytes = base58.decode(encoded);
  if (bytes.length !== 2 * ID_BYTES) return undefined;
  return { merchantId: uuidOf(bytes.subarray(0, ID_BYTES)), digest: digestOf(text) };
}

export interface SignedParts {
  timestamp: string;
  nonce: string;
  body: Uint8Array;
}

/** HMAC-SHA256 of `<timestamp>.<nonce>.<body>`. */
export function macOf(secret: Uint8Array | KeyObject, parts: SignedParts): Buffer {
  return createHmac('sha256', secret)
    .update(signedPrefix(parts.timestamp, parts.nonce))
    .update(parts.body)
    .digest();
}

/** True when `signature` (64 lower-case hex digits) is right for one of the secrets; all are tried, in constant time. */
export function signatureMatches(
  signature: string,
  secrets: readonly Uint8Array[],
  parts: SignedParts,
): boolean {
  const given = Buffer.from(signature, 'hex');
  const verdicts = secrets.map((secret) => timingSafeEqual(given, macOf(secret, parts)));
  return verdicts.includes(true);
}
