import { types } from 'node:util';
import {
  isNonce,
  isTimestamp,
  NONCE_HEADER,
  NONCE_LENGTH_MAX,
  NONCE_LENGTH_MIN,
  SIGNATURE_HEADER,
  signedPrefix,
  TIMESTAMP_HEADER,
  TIMESTAMP_SKEW_MAX_SECONDS,
} from '@florin/contract/signing';
import { hmacHex, sameSignature } from '../sign.ts';
import type { WebhookEvent } from './events.ts';

export type WebhookRefusal =
  | 'body_not_raw'
  | 'missing_header'
  | 'repeated_header'
  | 'timestamp_malformed'
  | 'timestamp_skew'
  | 'nonce_length'
  | 'nonce_malformed'
  | 'signature_mismatch'
  | 'body_not_json'
  | 'body_not_event';

/**
 * Why a webhook is not accepted; `message` says what to do. Answer the sender with 400, but with 500 where the reason
 * is `body_not_raw`: that is a fault of the receiver, and a delivery that is retried is not lost.
 */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly reason: WebhookRefusal;
  /** How far the stamp is from this machine's clock in seconds, positive when it is old (`timestamp_skew`). */
  readonly skewSeconds: number | undefined;

  constructor(reason: WebhookRefusal, message: string, skewSeconds?: number) {
    super(message);
    this.reason = reason;
    this.skewSeconds = skewSeconds;
  }
}

/** A Headers object of any library, or a plain record such as Node's `request.headers`; case does not matter. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The Secret Key, or several while one is rotated. Empty ones are left out; it is an error if none is left. */
export type WebhookSecret = string | undefined | readonly (string | undefined)[];

export interface VerifyOptions {
  /** Default 300, the specification's five minutes. */
  toleranceSeconds?: number;
  /** Unix seconds; default the clock of this machine. */
  now?: number;
}

/**
 * The event in a webhook, after the six steps of the specification (section 6). `rawBody` is the body as received, before
 * any parser: its bytes, or its text where a platform hands on that alone. Throws WebhookVerificationError for what came, a TypeError for a secret that is missing.
 * A valid webhook can come twice: drop those whose `id` you have seen. Trust the event's own `id` and `type`, since the
 * headers that repeat them are not signed.
 *
 * @example
 * ```ts
 * const event = webhooks.verify(rawBody, headers, process.env.FLORIN_SECRET_KEY);
 * if (event.type === 'payment.completed') console.log(event.data.object.id);
 * ```
 */
export function verify(
  rawBody: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secret: WebhookSecret,
  options: VerifyOptions = {},
): WebhookEvent {
  const body = rawBytes(rawBody);
  const secrets = knownSecrets(secret);
  const timestamp = header(headers, TIMESTAMP_HEADER);
  const nonce = header(headers, NONCE_HEADER);
  const signature = header(headers, SIGNATURE_HEADER);
  checkTimestamp(timestamp, options);
  checkNonce(nonce);

  const parts = [signedPrefix(timestamp, nonce), body];
  // All secrets are tried, so that the time does not reveal which one matches.
  const matches = secrets.filter((each) => sameSignature(signature, hmacHex(each, parts)));
  if (matches.length === 0)
    throw new WebhookVerificationError('signature_mismatch', mismatchMessage(secrets));
  return parseEvent(body);
}

function rawBytes(rawBody: unknown): Uint8Array {
  if (typeof rawBody === 'string') return new TextEncoder().encode(rawBody);
  if (types.isUint8Array(rawBody)) return rawBody;
  if (types.isArrayBuffer(rawBody)) return new Uint8Array(rawBody);
  const given = rawBody === undefined ? 'nothing' : 'a parsed object';
  const message = `the body must be as received, bytes or text, but ${given} was given: read it before any body parser`;
  throw new WebhookVerificationError('body_not_raw', message);
}

/** Throws a TypeError if there is none: with an empty key anybody could sign, and that is no fault of the sender. */
export function knownSecrets(secret: WebhookSecret): readonly string[] {
  const secrets = [secret].flat().filter((each): each is string => each !== undefined && each !== '');
  if (secrets.length === 0 || secrets.some((each) => typeof each !== 'string')) {
    throw new TypeError('the webhook secret is missing');
  }
  return secrets;
}

function header(headers: WebhookHeaders, name: string): string {
  const values = headerValues(headers, name).filter((value) => value !== undefined && value !== null);
  if (values.length > 1)
    throw new WebhookVerificationError('repeated_header', `the header ${name} came more than once`);
  const [value = ''] = values;
  if (value === '') throw new WebhookVerificationError('missing_header', `the header ${name} is missing`);
  return value;
}

function headerValues(headers: WebhookHeaders, name: string): readonly (string | null | undefined)[] {
  if (typeof headers.get === 'function') return [headers.get(name)];
  const wanted = name.toLowerCase();
  return Object.entries(headers).flatMap(([key, value]) => (key.toLowerCase() === wanted ? value : []));
}

function checkTimestamp(timestamp: string, options: VerifyOptions): void {
  if (!isTimestamp(timestamp)) {
    throw new WebhookVerificationError(
      'timestamp_malformed',
      `${TIMESTAMP_HEADER} is not 1 to 12 plain digits`,
    );
  }
  const now = options.now ?? Math.floor(Date.now() / 1000);
  const toleranceSeconds = options.toleranceSeconds ?? TIMESTAMP_SKEW_MAX_SECONDS;
  const skewSeconds = now - Number(timestamp);
  // Written so that NaN, from settings that are no numbers, refuses.
  if (Math.abs(skewSeconds) <= toleranceSeconds) return;
  const side = skewSeconds > 0 ? 'behind' : 'ahead of';
  const message = `the timestamp is ${Math.abs(skewSeconds)} s ${side} this machine's clock, ${toleranceSeconds} s are allowed`;
  throw new WebhookVerificationError('timestamp_skew', message, skewSeconds);
}

function checkNonce(nonce: string): void {
  if (nonce.length < NONCE_LENGTH_MIN || nonce.length > NONCE_LENGTH_MAX) {
    const message = `${NONCE_HEADER} has ${nonce.length} characters, not ${NONCE_LENGTH_MIN} to ${NONCE_LENGTH_MAX}`;
    throw new WebhookVerificationError('nonce_length', message);
  }
  if (!isNonce(nonce))
    throw new WebhookVerificationError('nonce_malformed', `${NONCE_HEADER} is not visible ASCII`);
}

function mismatchMessage(secrets: readonly string[]): string {
  if (secrets.some((secret) => /^fl_(test|live)_/.test(secret))) {
    return 'the signature does not match: the secret given looks like an API key, webhooks are signed with the Secret Key';
  }
  if (secrets.some((secret) => secret.trim() !== secret)) {
    return 'the signature does not match: the secret given begins or ends with white space';
  }
  return 'the signature does not match: wrong Secret Key, or the bytes given are not the body as it was received';
}

function parseEvent(body: Uint8Array): WebhookEvent {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
  } catch {
    throw new WebhookVerificationError('body_not_json', 'the signature is right but the body is not JSON');
  }
  if (isEvent(parsed)) return parsed;
  throw new WebhookVerificationError('body_not_event', 'the signature is right but the body is not an event');
}

/** Checks only what later versions of the service will keep. */
function isEvent(parsed: unknown): parsed is WebhookEvent {
  if (typeof parsed !== 'object' || parsed === null) return false;
  const { id, type } = { id: '', type: '', ...parsed };
  return typeof id === 'string' && id !== '' && typeof type === 'string' && type !== '';
}
