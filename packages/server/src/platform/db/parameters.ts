import { isDate } from 'node:util/types';

const NEEDS_ESCAPE = /["\\]/;

/**
 * Encodes a value for PostgreSQL: arrays as array literals, bytes as they are, times as ISO 8601 in UTC, other
 * objects as JSON, undefined as null.
 *
 * @throws TypeError for a value without a text form, such as a circular object
 */
export function encodeParameter(value: unknown): string | Buffer | null {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'bigint':
    case 'boolean':
      return value.toString();
    case 'object':
      return value === null ? null : encodeObject(value);
    case 'undefined':
      return null;
    case 'function':
    case 'symbol':
      throw new TypeError(`a ${typeof value} is no value of SQL`);
  }
}

function encodeObject(value: object): string | Buffer {
  if (Array.isArray(value)) return encodeArray(value);
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return isDate(value) ? value.toISOString() : JSON.stringify(value);
}

function encodeArray(values: readonly unknown[]): string {
  let text = '';
  for (const value of values) text += `,${encodeElement(value)}`;
  return `{${text.slice(1)}}`;
}

function encodeElement(value: unknown): string {
  if (typeof value === 'bigint' || typeof value === 'number') return value.toString();
  if (Array.isArray(value)) return encodeArray(value);
  const text = encodeParameter(value);
  if (text === null) return 'NULL';
  if (typeof text !== 'string') return `"\\\\x${text.toString('hex')}"`;
  return NEEDS_ESCAPE.test(text) ? `"${text.replaceAll(/["\\]/g, '\\$&')}"` : `"${text}"`;
}
