// Characters without a special meaning in any POSIX shell, anywhere in a word.
const PLAIN = /^[A-Za-z0-9_@%+:,./-]+$/;

/**
 * Quotes a text as one word of a shell command. Between single quotes no character is special except the
 * quote itself, which ends them, comes escaped, and opens them again. A NUL fits in no word.
 */
export function shellQuote(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
