import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { KeySecretsKnown } from '../../stores/key-owners/index.ts';

/** Something that may have been signed instead, with the mistake that it would explain. */
export interface Variant<T> {
  value: T;
  /** Undefined: it is right. */
  mistake: string | undefined;
  advice: string;
}

const right = <T>(value: T): Variant<T> => ({ value, mistake: undefined, advice: '' });

const parsed = (text: string): unknown => {
  if (!isPlain(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** As the API's own parser allows, which has not seen a refused body. */
const DEPTH_MAX = 32;
/** A form is never much longer than the body: each is hashed many times. */
const formBytesMax = (bodyBytes: number) => 4 * bodyBytes + 1_024;

/** Where indented JSON has a new line. */
const BEGINS_LINE = new Set('[]{},');

/**
 * Whether other forms of a JSON text are worth writing: it has few levels, and is not much longer when it is indented.
 * Indenting `[[[...` takes the square of its length.
 */
function isPlain(text: string): boolean {
  let depth = 0;
  let indented = text.length;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '\\') at++;
    else if (character === '"') isInString = !isInString;
    if (isInString || !BEGINS_LINE.has(character)) continue;
    if (character === '[' || character === '{') depth++;
    else if (character !== ',') depth--;
    if (depth > DEPTH_MAX) return false;
    indented += 1 + 2 * depth;
  }
  return indented <= formBytesMax(text.length);
}

const SEND_BYTES = 'Serialise once: sign that text, and send the same bytes.';
const RESERIALISED = 'The body was serialised again after it was signed';

const ascii = (text: string) =>
  text.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** As `json.dumps` of Python writes it. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, field]) => `${JSON.stringify(name)}: ${spaced(field)}`)
    .join(', ')}}`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, field]) => [name, sorted(field)]));
}

type Form = readonly [text: string | Buffer, mistake: string, advice: string];

/** Other ways to write the same JSON. */
function jsonForms(value: unknown): Form[] {
  const forms: readonly (readonly [write: (value: unknown) => string, how: string])[] = [
    [(v) => JSON.stringify(v), 'without white space'],
    [(v) => JSON.stringify(v, null, 2), 'indented by two spaces'],
    [(v) => JSON.stringify(v, null, 4), 'indented by four spaces'],
    [(v) => JSON.stringify(v, null, '\t'), 'indented by tabs'],
    [spaced, 'with a space behind each comma and colon, as Python writes it'],
    [
      (v) => ascii(spaced(v)),
      'with a space behind each comma and colon and \\u escapes, as Python writes it',
    ],
    [(v) => ascii(JSON.stringify(v)), 'with \\u escapes'],
    [(v) => JSON.stringify(v).replaceAll('/', '\\/'), 'with escaped slashes, as PHP writes it'],
    [
      (v) => ascii(JSON.stringify(v)).replaceAll('/', '\\/'),
      'with \\u escapes and escaped slashes, as PHP writes it',
    ],
    [(v) => JSON.stringify(sorted(v)), 'with its keys sorted'],
  ];
  return forms.map(
    ([write, how]): Form => [write(value), `${RESERIALISED}: the signature fits it ${how}.`, SEND_BYTES],
  );
}

/** The same text in other bytes. */
const textForms = (text: string): Form[] => [
  [`${text}\n`, 'A line break at the end was signed and not sent.', SEND_BYTES],
  [text.replace(/\r?\n$/, ''), 'A line break at the end was sent and not signed.', SEND_BYTES],
  [text.trim(), 'White space around the body was sent and not signed.', SEND_BYTES],
  [text.replace(/^\ufeff/, ''), 'A byte order mark was sent and not signed.', 'Write the body without one.'],
  [text.replaceAll('\r\n', '\n'), 'Line breaks of the body became CRLF after it was signed.', SEND_BYTES],
  [
    Buffer.from(text, 'latin1'),
    'The body was signed as Latin-1 and sent as UTF-8.',
    'Sign the bytes of UTF-8.',
  ],
  [
    Buffer.from(text, 'utf16le'),
    'The body was signed as UTF-16 and sent as UTF-8.',
    'Sign the bytes of UTF-8.',
  ],
  [JSON.stringify(text), 'The body was signed as a JSON string: it was serialised twice.', SEND_BYTES],
];

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes);

/** What may have been signed in place of the body, likeliest first. */
export function bodyVariants(body: Buffer): Variant<Buffer>[] {
  const variants = [right(body)];
  const add = ([form, mistake, advice]: Form) => {
    const value = Buffer.from(form);
    if (value.length > formBytesMax(body.length)) return;
    if (!variants.some((known) => known.value.equals(value))) variants.push({ value, mistake, advice });
  };
  const isEmpty = body.length === 0;
  for (const nothing of ['null', 'undefined', '{}', '""'])
    if (isEmpty)
      add([
        nothing,
        `${nothing} was signed as the body of a request without one.`,
        'Sign nothing after the second dot.',
      ]);
  if (isEmpty) return variants;
  add([
    '',
    'The body was left out of what was signed.',
    'Sign the body too: it stands behind the second dot.',
  ]);
  add(['[object Object]', 'An object was signed in place of its text: [object Object].', SEND_BYTES]);
  add([
    sha256(body).digest('hex'),
    'The SHA-256 of the body was signed in place of the body.',
    'Sign the body itself.',
  ]);
  add([body.toString('base64'), 'The body was signed in base64.', 'Sign the bytes that are sent.']);
  if (!isUtf8(body)) {
    add([
      Buffer.from(body.toString('latin1')),
      'The body was signed as UTF-8 and sent as Latin-1.',
      'Send the bytes of UTF-8.',
    ]);
    return variants;
  }
  const text = body.toString('utf8');
  const value = parsed(text);
  for (const form of value === undefined ? [] : jsonForms(value)) add(form);
  for (const form of textForms(text)) add(form);
  if (typeof value === 'string')
    add([value, 'The body was sent as a JSON string: it was serialised twice.', SEND_BYTES]);
  return variants;
}

export interface SignedRequest {
  timestamp: string;
  nonce: string;
  method: string;
  /** Path and query. */
  url: string;
}

const RULE =
  'Sign <timestamp>.<nonce>.<body>: the texts of the two headers, a dot behind each, then the body.';

/** What may have been put before the body. */
export function prefixVariants({ timestamp, nonce, method, url }: SignedRequest): Variant<string>[] {
  const query = url.split('?')[1];
  const path = url.split('?', 1)[0] ?? '';
  const ms = /^\d{10}$/.test(timestamp) ? `${timestamp}000` : undefined;
  const seconds = /^\d{13}$/.test(timestamp) ? timestamp.slice(0, 10) : undefined;
  const mistakes: (readonly [value: string | undefined, mistake: string])[] = [
    ['', 'The signature covers the body alone.'],
    [`${timestamp}.`, 'The signature leaves the nonce out.'],
    [`${nonce}.`, 'The signature leaves the timestamp out.'],
    [`${timestamp}${nonce}`, 'The signature leaves the dots out.'],
    [`${timestamp}.${nonce}`, 'The signature leaves the second dot out. It is there without a body too.'],
    [`${nonce}.${timestamp}.`, 'Nonce and timestamp are the wrong way round.'],
    [`${timestamp}\n${nonce}\n`, 'Line breaks were signed in place of the dots.'],
    [`${timestamp}:${nonce}:`, 'Colons were signed in place of the dots.'],
    [`${timestamp}.${nonce}.${method}.${path}.`, 'Method and path were signed: they do not belong to it.'],
    [`${timestamp}.${nonce}.${method}${path}`, 'Method and path were signed: they do not belong to it.'],
    [`${timestamp}.${nonce}.${path}`, 'The path was signed: it does not belong to it.'],
    [
      query === undefined ? undefined : `${timestamp}.${nonce}.${query}`,
      'The query was signed: it does not belong to it.',
    ],
    [
      query === undefined ? undefined : `${timestamp}.${nonce}.${url}`,
      'The path was signed: it does not belong to it.',
    ],
    [ms && `${ms}.${nonce}.`, 'Milliseconds were signed, and seconds sent as the timestamp.'],
    [seconds && `${seconds}.${nonce}.`, 'Seconds were signed, and milliseconds sent as the timestamp.'],
  ];
  return [
    right(`${timestamp}.${nonce}.`),
    ...mistakes.flatMap(([value, mistake]) =>
      value === undefined ? [] : [{ value, mistake, advice: RULE }],
    ),
  ];
}

const THE_TEXT = 'The key of the HMAC is the text of the Secret Key (fls_…), as it is shown.';

/** What may have been the key of the HMAC. */
export function secretVariants(
  { current, previous, others }: KeySecretsKnown,
  apiKey: string,
  receivedAtMs: number,
  nameOf: (keyId: string) => string,
): Variant<string | Buffer>[] {
  const plain = current.replace(/^fls_(?:test|live)_/, '');
  const decoded = (['base64', 'base64url', 'hex'] as const).map((encoding) => ({
    value: Buffer.from(plain, encoding),
    mistake: `The secret key was decoded as ${encoding}.`,
    advice: THE_TEXT,
  }));
  const isPreviousGood = previous !== undefined && previous.untilMs > receivedAtMs;
  return [
    right(current),
    ...(previous === undefined
      ? []
      : [
          {
            value: previous.secret,
            mistake: isPreviousGood
              ? undefined
              : 'It was signed with the secret key from before the last rotation, which has ended.',
            advice: 'Use the secret key that the rotation showed, or rotate again.',
          },
        ]),
    {
      value: '',
      mistake: 'It was signed with an empty secret.',
      advice: 'The variable that holds the Secret Key is not set.',
    },
    {
      value: apiKey,
      mistake: 'It was signed with the API key.',
      advice: `Sign with the Secret Key. ${THE_TEXT}`,
    },
    ...others.map(({ keyId, secret }) => ({
      value: secret,
      mistake: `It was signed with the secret key of another API key, ${nameOf(keyId)}.`,
      advice: 'API key and Secret Key belong together: send the API key of the secret.',
    })),
    ...[`${current}\n`, `${current}\r\n`, ` ${current}`, `${current} `, `"${current}"`, `'${current}'`].map(
      (value) => ({
        value,
        mistake: 'The secret key was used with white space or quotes around it.',
        advice: 'Trim it where it is read: a line break at the end of a file or variable counts.',
      }),
    ),
    { value: plain, mistake: 'The secret key was used without its beginning (fls_…_).', advice: THE_TEXT },
    // What is no hex is decoded to nothing.
    ...decoded.filter(({ value }) => value.length > 0),
    {
      value: Buffer.from(current, 'base64'),
      mistake: 'The secret key was decoded as base64.',
      advice: THE_TEXT,
    },
    {
      value: sha256(Buffer.from(current)).digest(),
      mistake: 'The secret key was hashed first.',
      advice: THE_TEXT,
    },
  ];
}
