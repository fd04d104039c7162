import { EXCHANGE_BODY_BYTES_MAX, type Exchange } from '../platform/http/exchanges/index.ts';
import { isSecretName, redact, shortenSignature } from '../platform/secrets/index.ts';

/** Bytes that are kept of each text of a request. */
export interface KeptBytes {
  headers: number;
  body: number;
  /** Of the path, and of the query. */
  url: number;
}
export const KEPT: KeptBytes = { headers: 16_384, body: EXCHANGE_BODY_BYTES_MAX, url: 2_000 };
/** Of a request whose signature was not verified: a stranger chose its texts. */
export const KEPT_OF_REFUSED: KeptBytes = { headers: 2_048, body: 2_048, url: 512 };
/**
 * Ends a text that was cut. Of ASCII: one other character would make V8 and PostgreSQL take a text of 16 kB the slow way, at three
 * times the cost.
 */
export const CUT = '[...]';
const MASK = '[redacted]';
/** The token at the end of a page's URL. It opens the page without a key. */
const PAGE_TOKEN = /(\/|%2[Ff]|\\u002[Ff])[1-9A-HJ-NP-Za-km-z]{22,}/g;

/** Between texts that travel to the database as one. No text holds it. */
export const SEPARATOR = '\x1e';

/** A text that PostgreSQL takes: without NUL characters and halves of characters. */
function storable(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  const isPlain = !whole.includes('\0') && !whole.includes(SEPARATOR);
  return isPlain ? whole : whole.replaceAll('\0', '\u{fffd}').replaceAll(SEPARATOR, '\u{fffd}');
}

/** Masks the secrets that a text may hold: keys, tokens, passwords, and addresses that open pages. */
const maskSecrets = (text: string): string => redact(text.replaceAll(PAGE_TOKEN, `$1${MASK}`));

const scratch = Buffer.allocUnsafe(EXCHANGE_BODY_BYTES_MAX);
const ENDS_WORD = new Set('\t\n\r "\',:;&{}[]');
const WORD_MAX = 512;

/** The beginning of a text that fits, without the word in which it ends: half a secret looks like none. */
function beginningOf(text: string): string {
  const kept = scratch.toString('utf8', 0, scratch.write(text));
  let end = kept.length;
  while (end > 0 && kept.length - end < WORD_MAX && !ENDS_WORD.has(kept.charAt(end - 1))) end--;
  return kept.slice(0, end);
}

/** Cuts a masked text to bytes of UTF-8: characters that stand for wrong bytes take three times as many. */
function fitting(text: string, bytesMax: number): string {
  if (text.length * 3 <= bytesMax || Buffer.byteLength(text) <= bytesMax) return text;
  const kept = scratch.write(text, 0, bytesMax - CUT.length);
  return scratch.toString('utf8', 0, kept) + CUT;
}

/**
 * A body without secrets. A longer one is cut and ends with `CUT`.
 *
 * @param bytes of the whole body, of which `text` may be the beginning
 */
export function redactBody(text: string, bytes: number, kept = KEPT): string {
  const isCut = bytes > EXCHANGE_BODY_BYTES_MAX;
  const masked = maskSecrets(storable(isCut ? beginningOf(text) : text));
  return fitting(isCut ? masked + CUT : masked, kept.body);
}

/** Path and query of a URL as received. */
export function redactUrl(url: string, kept = KEPT): { path: string; query: string } {
  const at = url.indexOf('?');
  const clean = (text: string) => fitting(maskSecrets(storable(text)), kept.url);
  return at === -1
    ? { path: clean(url), query: '' }
    : { path: clean(url.slice(0, at)), query: clean(url.slice(at + 1)) };
}

const ALWAYS_MASKED = /^(?:cookie|authorization|proxy-authorization|x-auth|x-session(?:-id)?)$/;
const isMasked = (name: string) => ALWAYS_MASKED.test(name) || name.includes('jwt') || isSecretName(name);
/** What may be a signature under another name, whole. The nonce is no secret, and belongs to what was signed. */
const SIGNATURE_FORM = /^(?:[0-9a-f]{64}|[\w+/-]{43}=?)$/i;
const mayBeSignature = (name: string, value: string) =>
  name !== 'x-service-nonce' && SIGNATURE_FORM.test(value);
const BEARER = /^Bearer /i;

function maskHeader(name: string, value: string): string {
  if (name === 'x-service-signature') return shortenSignature(value);
  return name === 'authorization' && BEARER.test(value) ? `Bearer ${MASK}` : MASK;
}

/** Headers as lines of `name: value`. */
export function redactHeaders(
  { headers, repeated }: Pick<Exchange, 'headers' | 'repeated'>,
  kept = KEPT,
): string {
  let masked = '';
  let others = '';
  for (const name in headers) {
    const value = headers[name] ?? '';
    const times = repeated.has(name) ? ' (more than once)' : '';
    if (isMasked(name)) masked += `${name}: ${maskHeader(name, value)}${times}\n`;
    else others += `${name}: ${mayBeSignature(name, value) ? shortenSignature(value) : value}${times}\n`;
  }
  return fitting(masked + maskSecrets(storable(others)), kept.headers).trimEnd();
}
