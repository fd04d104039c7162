const MASK = '[redacted]';

/*
 * Every expression here runs in linear time on any text: none may retry a long run of characters from each of its
 * positions. Therefore names and addresses are found by their separators.
 */

/** Our own keys, secrets and tokens: see `stores/keys/credentials.ts`. */
const OWN = /\b(?:fl[sa]?|whsec)_(?:test_|live_)?[1-9A-HJ-NP-Za-km-z]{20,}/g;
const CREDENTIALS = /\b(Bearer|Basic)\s+[^\s"'\\,]+/gi;
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;

/** A candidate for an address: a run without white space, quotes and escapes. */
const WORD = /[^\s"'\\]+/g;
const SCHEME_END = '://';
const SCHEME_CHARACTER = /[\w+.-]/;
const USER_END = /[:/@]/g;

/** A name and the separator between it and its value: `password=`, `"secret_key":"`, `\"api_key\": \"`. */
const NAME = /(?<![\w-])([\w-]+)\\*["']?\s*[:=]\s*\\*["']?/g;
const SECRET_NAME = /password|passwd|secret|token|api[_-]?key|master[_-]?key|signature|authorization$/i;
const VALUE = /[^\s"'\\,;&}]+/y;

/** Masks what may be a secret, rather too much than too little, in logs and error messages. */
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

/** `redact`, and masks the given secrets. Secrets below 6 characters are left, as they would mask ordinary text. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const known = secrets
    .flatMap((secret) => [secret, decoded(secret)])
    // As written in JSON and in a URL.
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
