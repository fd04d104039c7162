import { createHash } from 'node:crypto';

/** Of a JSON value: two spellings of one value have one digest. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('base64');
}

/** Keys in order, so that two spellings of one value are one text. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value ?? null, (_key, field: unknown) =>
    isObject(field) ? Object.fromEntries(Object.entries(field).sort(([a], [b]) => (a < b ? -1 : 1))) : field,
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
