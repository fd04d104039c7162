import { createHash } from 'node:crypto';
import { isSecretName, redact, shorten } from '../platform/secrets/index.ts';

const MASK = '[redacted]';
const TEXT_MAX = 2_000;
const ITEMS_MAX = 200;
const DEPTH_MAX = 8;
const DETAILS_MAX = 64_000;

/** A file in a request, such as a logo. */
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Bytes are named by their digest. */
const digestOf = (bytes: Uint8Array) => ({
  bytes: bytes.length,
  sha256: createHash('sha256').update(bytes).digest('hex'),
});

function masked(value: unknown, depth: number): unknown {
  if (typeof value === 'string') {
    if (value.length > TEXT_MAX && BASE64.test(value)) return digestOf(Buffer.from(value, 'base64'));
    return shorten(redact(value), TEXT_MAX);
  }
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'function' || typeof value === 'symbol') return undefined;
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Uint8Array) return digestOf(value);
  if (depth === DEPTH_MAX) return '[nested]';
  if (Array.isArray(value)) return value.slice(0, ITEMS_MAX).map((one) => masked(one, depth + 1) ?? null);
  const fields = Object.entries(value).slice(0, ITEMS_MAX);
  return Object.fromEntries(
    fields.map(([name, one]) => [
      name,
      isSecretName(name) && one !== null && one !== undefined ? MASK : masked(one, depth + 1),
    ]),
  );
}

/** What an entry keeps of a change, as JSON: without secrets and of a bounded length. */
export function detailsOf(value: object): string {
  const text = JSON.stringify(masked(value, 0));
  return text.length <= DETAILS_MAX ? text : JSON.stringify({ left_out: digestOf(Buffer.from(text)) });
}
