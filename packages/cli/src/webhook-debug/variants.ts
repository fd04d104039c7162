import { isUtf8 } from 'node:buffer';

/** Another form of the input, with the mistake that it would explain. */
export interface Variant<T> {
  value: T;
  /** Undefined: it is right as it is. */
  mistake: string | undefined;
  advice: string;
}

const asGiven = <T>(value: T): Variant<T> => ({ value, mistake: undefined, advice: '' });
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const RAW_ADVICE =
  'Take the bytes before any body parser: express.raw(), a raw body plugin, await request.arrayBuffer().';

/** The body, and its possible forms before a tool or framework changed it, likeliest first. */
export function bodyVariants(body: Buffer): Variant<Buffer>[] {
  const variants = [asGiven(body)];
  const add = (value: Buffer | string | undefined, mistake: string, advice: string) => {
    if (value === undefined) return;
    const bytes = Buffer.from(value);
    if (!variants.some((known) => known.value.equals(bytes)))
      variants.push({ value: bytes, mistake, advice });
  };
  const text = isUtf8(body) ? body.toString('utf8') : undefined;
  if (text === undefined) return variants;
  add(text.replace(/^\ufeff/, ''), 'A byte order mark was put before the body.', 'Write it without one.');
  add(
    text.replace(/\r?\n$/, ''),
    'The body given ends with a line break that was not signed.',
    'An editor, echo or a log added it: sign and keep the body without it (printf %s, --data-binary).',
  );
  add(text.trim(), 'The body given has white space around it that was not signed.', RAW_ADVICE);
  add(
    text.replaceAll('\r\n', '\n'),
    'Line breaks of the body became CRLF.',
    'Something took the body for text of Windows: keep its bytes.',
  );
  const value = parsed(text);
  if (typeof value === 'string') {
    add(value, 'The body was put into a JSON string.', `It was serialised twice. ${RAW_ADVICE}`);
  } else if (value !== undefined) {
    add(
      JSON.stringify(value),
      'The body was parsed and written again: other white space, escapes or order than what was signed.',
      RAW_ADVICE,
    );
  }
  // UTF-8 that somebody read as one character a byte, and wrote as UTF-8.
  const isOneByteText = [...text].every((character) => (character.codePointAt(0) ?? 0) < 256);
  const mended = Buffer.from(text, 'latin1');
  if (isOneByteText && isUtf8(mended)) {
    add(
      mended,
      'The body was read as Latin-1 and written as UTF-8.',
      'Keep its bytes, or decode it as UTF-8.',
    );
  }
  return variants;
}

/** The known secrets, and corrected forms of each. */
export function secretVariants(
  given: readonly string[],
  others: readonly { value: string; name: string }[],
): Variant<string>[] {
  const trimmed = given.map((secret) => secret.trim().replace(/^(["'])(.*)\1$/, '$2'));
  return [
    ...given.map(asGiven),
    ...trimmed
      .filter((secret, i) => secret !== given[i] && secret !== '')
      .map((value) => ({
        value,
        mistake: 'The secret given has white space or quotes around it.',
        advice: 'Trim it where it is read: a line break at the end of a file or variable counts.',
      })),
    ...others
      .filter(({ value }) => !given.includes(value))
      .map(({ value, name }) => ({
        value,
        mistake: `It was signed with ${name}, not with the secret given.`,
        advice: 'Verify with the secret of the key that signs your webhooks.',
      })),
  ];
}

/** The signed text, correct and with common mistakes. */
export function messageVariants(body: Buffer, timestamp: string, nonce: string): Variant<Buffer>[] {
  const advice =
    'The sender is not this service, or your own signing code: sign <timestamp>.<nonce>.<raw_body>.';
  const join = (...parts: readonly string[]) => Buffer.concat([Buffer.from(parts.join('')), body]);
  return [
    asGiven(join(timestamp, '.', nonce, '.')),
    { value: body, mistake: 'The signature covers the body alone.', advice },
    { value: join(timestamp, '.'), mistake: 'The signature leaves the nonce out.', advice },
    { value: join(timestamp, nonce), mistake: 'The signature leaves the dots out.', advice },
    {
      value: join(nonce, '.', timestamp, '.'),
      mistake: 'Nonce and timestamp are the wrong way round.',
      advice,
    },
  ];
}
