const MASK = '[redacted]';

/*
 * Every expression here takes time in proportion to the text, whatever it holds: none may try a long run of characters
 * again from each of them. That is why names and addresses are found by their separators.
 */

/** Our own keys, secrets and tokens: see `stores/credentials.ts`. */
const OWN = /\b(?:fl[sa]?|whsec)_(?:test_|live_)?[1-9A-HJ-NP-Za-km-z]{20,}/g;
const CREDENTIALS = /\b(Bearer|Basic)\s+[^\s"'\\,]+/gi;
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;

/** What an address can be, as far as white space, quotes and escapes separate it from the rest. */
const WORD = /[^\s"'\\]+/g;
const SCHEME_END = '://';
const SCHEME_CHARACTER = /[\w+.-]/;
const USER_END = /[:/@]/g;

/** A whole name and what stands between it and its value: `password=`, `"secret_key":"`, `\"api_key\": \"`. */
const NAME = /(?<![\w-])([\w-]+)\\*["']?\s*[:=]\s*\\*["']?/g;
const SECRET_NAME = /password|passwd|secret|token|api[_-]?key|master[_-]?key|signature|authorization$/i;
const VALUE = /[^\s"'\\,;&}]+/y;

/** Masks whatever looks like a secret. Rather too much than too little: it is for logs and for what errors say. */
export function redact(text: string): string {
  const masked = text
    .replaceAll(PRIVATE_KEY, MASK)
    .replaceAll(OWN, MASK)
    .replaceAll(WORD, maskPassword)
    .replaceAll(CREDENTIALS, `$1 ${MASK}`);
  return maskNamed(masked);
}

/** `scheme://user:password@host`; a password may hold an @ that should have been escaped. */
function maskPassword(word: string): string {
  const end = word.lastIndexOf('@');
  for (let at = word.indexOf(SCHEME_END); at !== -1 && at < end; at = word.indexOf(SCHEME_END, at + 1)) {
    USER_END.lastIndex = at + SCHEME_END.length;
    const userEnd = USER_END.exec(word)?.index ?? end;
    const isPassword = word[userEnd] === ':' && userEnd < end && SCHEME_CHARACTER.test(word[at - 1] ?? '');
    if (isPassword) return `${word.slice(0, userEnd + 1)}${MASK}${word.slice(end)}`;
  }
  return word;
}

function maskNamed(text: string): string {
  let masked = '';
  let copied = 0;
  NAME.lastIndex = 0;
  for (let found = NAME.exec(text); found !== null; found = NAME.exec(text)) {
    if (!SECRET_NAME.test(found[1] ?? '')) continue;
    VALUE.lastIndex = NAME.lastIndex;
    if (!VALUE.test(text)) continue;
    masked += text.slice(copied, NAME.lastIndex) + MASK;
    copied = VALUE.lastIndex;
    NAME.lastIndex = copied;
  }
  return masked + text.slice(copied);
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
