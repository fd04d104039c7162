const MASK = '[redacted]';

/** Our own keys, secrets and tokens: see `stores/credentials.ts`. */
const OWN = /\b(?:fl[sa]?|whsec)_(?:test_|live_)?[1-9A-HJ-NP-Za-km-z]{20,}/g;
/** `scheme://user:password@host`; a password may hold an @ that should have been escaped. */
const URL_PASSWORD = /(\b[a-z][\w+.-]*:\/\/[^\s:/@"'\\]*:)[^\s"'\\]*@/gi;
const CREDENTIALS = /\b(Bearer|Basic)\s+[^\s"'\\,]+/gi;
/** `password=…`, `"secret_key":"…"`, and the latter inside a text that is quoted itself. */
const NAMED =
  /\b((?:[\w-]*(?:password|passwd|secret|token|api[_-]?key|master[_-]?key|signature)[\w-]*|authorization)\\*["']?\s*[:=]\s*\\*["']?)[^\s"'\\,;&}]+/gi;
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;

/** Masks whatever looks like a secret. Rather too much than too little: it is for logs and for what errors say. */
export function redact(text: string): string {
  return text
    .replaceAll(PRIVATE_KEY, MASK)
    .replaceAll(OWN, MASK)
    .replaceAll(URL_PASSWORD, `$1${MASK}@`)
    .replaceAll(CREDENTIALS, `$1 ${MASK}`)
    .replaceAll(NAMED, `$1${MASK}`);
}

const KNOWN_LENGTH_MIN = 6;

/** `redact`, and the given secrets wherever they stand. Very short ones are left: masking them would eat the logs. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const known = secrets
    .flatMap((secret) => [secret, decoded(secret)])
    // As they stand in a JSON text and in an address.
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
    .filter((secret) => secret.length >= KNOWN_LENGTH_MIN);
  const unique = [...new Set(known)].sort((a, b) => b.length - a.length);
  return (text) => redact(unique.reduce((rest, secret) => rest.replaceAll(secret, MASK), text));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
