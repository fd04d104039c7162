/**
 * What is signed, on requests and on webhooks alike (spec sections 5 and 6). Only the parts that run
 * anywhere: the HMAC itself belongs to the caller, because node:crypto does not exist in a browser.
 *
 * signature = lower-case hex of HMAC-SHA256(secret as UTF-8, `<timestamp>.<nonce>.` + raw body bytes)
 */

export const TIMESTAMP_HEADER = 'X-Service-Timestamp';
export const NONCE_HEADER = 'X-Service-Nonce';
export const SIGNATURE_HEADER = 'X-Service-Signature';
export const EVENT_TYPE_HEADER = 'X-Service-Event-Type';
export const EVENT_ID_HEADER = 'X-Service-Event-ID';
export const IDEMPOTENCY_KEY_HEADER = 'Idempotency-Key';

/** The allowed difference between a timestamp and the verifier's clock, in both directions. */
export const TIMESTAMP_SKEW_MAX_SECONDS = 300;
export const NONCE_LENGTH_MIN = 16;
export const NONCE_LENGTH_MAX = 64;
/** A stamp 300 s in the future stays valid for 600 s, so a spent nonce is kept longer than that. */
export const NONCE_KEEP_SECONDS = 660;

const TIMESTAMP_FORM = /^[0-9]{1,12}$/;
const NONCE_FORM = /^[\x21-\x7e]{16,64}$/;
const SIGNATURE_FORM = /^[0-9a-f]{64}$/;

/** 1 to 12 plain ASCII digits: `+1`, ` 1`, `1.0`, `1e9` and other digits of Unicode are no timestamps. */
export function isTimestamp(text: string): boolean {
  return TIMESTAMP_FORM.test(text);
}

/** 16 to 64 visible ASCII characters (0x21 to 0x7e); a dot is one of them. */
export function isNonce(text: string): boolean {
  return NONCE_FORM.test(text);
}

/** 64 lower-case hex digits: a valid MAC in upper case is refused, so that each has one spelling only. */
export function isSignature(text: string): boolean {
  return SIGNATURE_FORM.test(text);
}

/**
 * How a signature is written, for whoever explains a refused one: as it has to be, in upper-case hex, in base64 (of either
 * alphabet), or in no form of a SHA-256.
 */
export function signatureForm(text: string): 'right' | 'upper_case' | 'base64' | 'other' {
  if (isSignature(text)) return 'right';
  if (isSignature(text.toLowerCase())) return 'upper_case';
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? 'base64' : 'other';
}

/**
 * The bytes of `<timestamp>.<nonce>.`, fed to the HMAC before the raw body, so that the body is never copied
 * nor turned into text.
 */
export function signedPrefix(timestamp: string, nonce: string): Uint8Array {
  return new TextEncoder().encode(`${timestamp}.${nonce}.`);
}

/** A published example for writers of clients in any language. `bodyHex` holds the raw bytes of the body. */
export interface SigningVector {
  readonly name: string;
  readonly secret: string;
  readonly timestamp: string;
  readonly nonce: string;
  readonly bodyHex: string;
  readonly signature: string;
}

export const SIGNING_VECTORS: readonly SigningVector[] = [
  {
    name: 'empty body, as of a GET',
    secret: 'florin-vector-secret-1',
    timestamp: '1776643200',
    nonce: 'f1c0a9d2-5b7e-4c3a-9e61-2d84b07a5c11',
    bodyHex: '',
    signature: 'ade5406645aacdacec16055b07b41c37d01e170e0056b5c2dad1f9274980578a',
  },
  {
    name: 'empty object',
    secret: 'florin-vector-secret-1',
    timestamp: '1776643200',
    nonce: 'f1c0a9d2-5b7e-4c3a-9e61-2d84b07a5c11',
    bodyHex: '7b7d',
    signature: '951e5e040f919c2e0f0080d0500862b97ddcd5058c80b5cd5c55c10beeac3524',
  },
  {
    name: 'payout batch',
    secret: 'florin-vector-secret-1',
    timestamp: '1776643201',
    nonce: '0123456789abcdef',
    bodyHex:
      '7b2263757272656e6379223a2255534454222c226974656d73223a5b7b226e6574776f726b223a226572633230222c2261646472657373223a22307835614165623630353346334539344339623941303966333336363934333545374566314265416564222c22616d6f756e74223a2231322e3530227d5d7d',
    signature: '4c68eda01ff49293cf6b1f44c1daa1fbe9be3233d396993773e69baa81e95933',
  },
  {
    name: 'white space and a final line feed count',
    secret: 'florin-vector-secret-1',
    timestamp: '1776643201',
    nonce: '0123456789abcdef',
    bodyHex: '7b202263757272656e637922203a20225553445422207d0a',
    signature: 'cbb40531445ac3d11e1bcdfefda2c05a745fa9453a9d63fc3fd60ca25309d3b4',
  },
  {
    name: 'body beyond ASCII',
    secret: 'florin-vector-secret-1',
    timestamp: '1776643202',
    nonce: 'nonce-0000000001',
    bodyHex: '7b226465736372697074696f6e223a225ac3bc7269636820e69db1e4baac20f09fa68a227d',
    signature: 'f21dc60fef06a3c6a94e3f275bd678c52f44e93aee63cf9f911729d1f1f2b631',
  },
  {
    name: 'the same text as escapes is another body',
    secret: 'florin-vector-secret-1',
    timestamp: '1776643202',
    nonce: 'nonce-0000000001',
    bodyHex:
      '7b226465736372697074696f6e223a225a5c753030666372696368205c75363737315c7534656163205c75643833655c7564643861227d',
    signature: '2715931919577494c52e6ec5c47a72442b697a0cf69243244d39ab5543d3134f',
  },
  {
    name: 'NUL bytes inside the body',
    secret: 'florin-vector-secret-1',
    timestamp: '1776643203',
    nonce: 'nonce-0000000002',
    bodyHex: '007b007d00',
    signature: 'e52a235ab463ed91f3a6236483882e03004dd6f757e60d8cadebe1c1eecb9073',
  },
  {
    name: 'bytes that are not UTF-8',
    secret: 'florin-vector-secret-1',
    timestamp: '1776643203',
    nonce: 'nonce-0000000002',
    bodyHex: 'fffe80c0',
    signature: '2ab8ec7d925c2421c941847a32a3592a5f68c784bdd81ad8005855338c956bd3',
  },
  {
    name: 'nonce of 64 characters with dots',
    secret: 'florin-vector-secret-1',
    timestamp: '1776643204',
    nonce: '!.!.!.!.!.!.!.!.!.!.!.!.!.!.!.!.!.!.!.!.!.!.!.!.!.!.!.!.!.!.!.~~',
    bodyHex: '7b2261223a317d',
    signature: 'a2cc476d33091c5fb1c336d03362bee5edada625a7c0e06638469a152c2c9cfe',
  },
  {
    name: 'timestamp of one digit',
    secret: 'florin-vector-secret-1',
    timestamp: '7',
    nonce: '0123456789abcdef',
    bodyHex: '7b7d',
    signature: 'e3fce371658cd0489f7696802bc2defb37ac2671e71f072adab0526961b5ed5f',
  },
  {
    name: 'secret beyond ASCII, longer than a SHA-256 block',
    secret: 'schlüssel-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
    timestamp: '1776643205',
    nonce: 'abcdefghijklmnop',
    bodyHex: '7b2261223a317d',
    signature: 'abe3d39f23eb74608a7b8946047a3ed2b5024287b335a74dc44483882acf3664',
  },
];
