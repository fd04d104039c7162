const MASK = '[redacted]';

/*
 * Every expression here runs in linear time on any text: none may retry a long run of characters from each of its
 * positions. Therefore names and addresses are found by their separators.
 */

/** Our own keys, secrets and tokens: see `stores/keys/credentials.ts`. */
const OWN = /(?:fl[sa]?|whsec)_(?:test_|live_)?[1-9A-HJ-NP-Za-km-z]{20,}/g;
const CREDENTIALS = /(Bearer|Basic)\s+[^\s"'\\,]+/gi;
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;

/** A candidate for an address: a run without white space, quotes and escapes. */
const WORD = /[^\s"'\\]+/g;
const SCHEME_END = '://';
const SCHEME_CHARACTER = /[\w+.-]/;
const USER_END = /[:/@]/g;

/** A JSON Web Token stands in a run of these; also behind `%3D`, whose last character is one of them. */
const TOKEN_RUN = /[\w.-]+/g;
const TOKEN_BEGINNING = 'eyJ';
const TOKEN_PART_MIN = 10;

/**
 * A name and the separator between it and its value: `password=`, `"secret_key":"`, `\"api_key\": \"`. Signs may be
 * escaped as in URLs (`%22password%22%3A`) or in JSON (`token\u003d`).
 */
const NAME =
  /(?<![\w-])([\w-]+)\\*(?:["']|%2[27]|u002[27])?\s*(?:[:=]|%3[AD]|\\{0,4}u003[AD])\s*(\\*)(["']|%2[27]|u002[27])?/gi;
const SECRET_NAME =
  /password|passwd|passphrase|secret|token|api[_-]?key|master[_-]?key|private[_-]?key|mnemonic|credential|signature|authorization$/i;
const VALUE = /[^\s"'\\,;&}]+/y;

/** Found in every text that `redact` changes: most texts cost only this search, a fiftieth of the rest. */
const MAY_HOLD_SECRET =
  /fl[sa]?_|whsec_|passw|passphrase|secret|token|api[_-]?key|master[_-]?key|private[_-]?key|mnemonic|credential|signature|authoriz|bearer|basic|private key|eyj/i;
const mayHoldPassword = (text: string) => text.includes('@') && text.includes(SCHEME_END);

/** Masks what may be a secret, rather too much than too little, in logs and error messages. */
export function redact(text: string): string {
  return MAY_HOLD_SECRET.test(text) || mayHoldPassword(text) ? redactThoroughly(text) : text;
}

/** `redact` without the search that saves most texts the work. */
export function redactThoroughly(text: string): string {
  const masked = text
    .replaceAll(PRIVATE_KEY, MASK)
    .replaceAll(OWN, MASK)
    .replaceAll(WORD, maskPassword)
    .replaceAll(TOKEN_RUN, maskToken)
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

function maskToken(run: string): string {
  const at = run.indexOf(TOKEN_BEGINNING);
  return at !== -1 && run.indexOf('.', at) >= at + TOKEN_PART_MIN ? run.slice(0, at) + MASK : run;
}

function maskNamed(text: string): string {
  let masked = '';
  let copied = 0;
  NAME.lastIndex = 0;
  for (let found = NAME.exec(text); found !== null; found = NAME.exec(text)) {
    if (!SECRET_NAME.test(found[1] ?? '')) continue;
    const [, , escapes = '', quote] = found;
    const start = NAME.lastIndex;
    const end =
      quote === '"' || quote === "'" ? quoteEnd(text, start, quote, escapes.length) : valueEnd(text, start);
    if (end === start) continue;
    masked += text.slice(copied, start) + MASK;
    copied = end;
    NAME.lastIndex = end;
  }
  return masked + text.slice(copied);
}

/** Where a value in quotes ends: at the same quote, escaped no deeper. All of the rest if it does not end. */
function quoteEnd(text: string, start: number, quote: string, escapes: number): number {
  for (let at = text.indexOf(quote, start); at !== -1; at = text.indexOf(quote, at + 1)) {
    let first = at;
    while (first > start && text[first - 1] === '\\') first--;
    const depth = at - first;
    if (escapes === 0 ? depth % 2 === 0 : depth <= escapes)
      return first === at ? at : at - Math.min(depth, escapes);
  }
  return text.length;
}

/** Where a value without quotes ends, or a list or object of values. */
function valueEnd(text: string, start: number): number {
  if (text[start] === '[' || text[start] === '{') return nestedEnd(text, start);
  VALUE.lastIndex = start;
  return VALUE.test(text) ? VALUE.lastIndex : start;
}

function nestedEnd(text: string, start: number): number {
  let depth = 0;
  let isInString = false;
  for (let at = start; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '\\') at++;
    else if (character === '"') isInString = !isInString;
    else if (!isInString && (character === '[' || character === '{')) depth++;
    else if (!isInString && (character === ']' || character === '}')) depth--;
    if (depth === 0) return at + 1;
  }
  return text.length;
}

const KNOWN_LENGTH_MIN = 6;

/** Whether the value of a field or header is masked because of its name. */
export const isSecretName = (name: string): boolean => SECRET_NAME.test(name);

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
