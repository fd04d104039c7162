import {
  createHash,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { signedPrefix } from '@florin/contract/signing';
import { base58 } from '@scure/base';
import { decodeIdToken, encodeIdToken } from '../../platform/db/ids/index.ts';

const KEY_BYTES = 16;
const SECRET_BYTES = 32;
const API_KEY_FORM = /^fl_(?:test|live)_([1-9A-HJ-NP-Za-km-z]{32,44})$/;

export interface ParsedApiKey {
  merchantId: string;
  digest: Buffer;
}

const marker = (mode: 'sandbox' | 'live') => (mode === 'sandbox' ? 'test' : 'live');

/** The digest of an API key or an approver's token, which the database stores instead. */
export function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** `fl_test_…`: it contains the merchant's id, so that one look-up on the merchant's shard finds it. */
export function makeApiKey(merchantId: string, mode: 'sandbox' | 'live'): string {
  return `fl_${marker(mode)}_${encodeIdToken([merchantId], randomBytes(KEY_BYTES))}`;
}

/** Makes a secret key, which is used for signatures only: its text, as UTF-8, is the key of the HMAC. */
export function makeSecretKey(mode: 'sandbox' | 'live'): string {
  return `fls_${marker(mode)}_${base58.encode(randomBytes(SECRET_BYTES))}`;
}

/** Makes an approver's token, which is shown once. */
export function makeApproverToken(): string {
  return `fla_${base58.encode(randomBytes(SECRET_BYTES))}`;
}

/** @returns undefined for any text that is no API key */
export function parseApiKey(text: string): ParsedApiKey | undefined {
  const encoded = API_KEY_FORM.exec(text)?.[1] ?? '';
  const [merchantId] = decodeIdToken(encoded, { ids: 1, secretBytes: KEY_BYTES })?.ids ?? [];
  return merchantId === undefined ? undefined : { merchantId, digest: digestOf(text) };
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

/** A secret that matches no signature. */
const DUMMY = { secret: createSecretKey(Buffer.from('an unknown key costs the same work')) };

/**
 * Finds the secret that made a signature (64 lower-case hex digits). All secrets are tried, each in constant time; without
 * any, a dummy is tried, so that the time is the same.
 */
export function secretOfSignature<S extends { secret: KeyObject }>(
  signature: string,
  secrets: readonly S[],
  parts: SignedParts,
): S | undefined {
  const given = Buffer.from(signature, 'hex');
  const tried = secrets.length > 0 ? secrets : [DUMMY];
  const verdicts = tried.map(({ secret }) => timingSafeEqual(given, macOf(secret, parts)));
  return secrets[verdicts.indexOf(true)];
}
