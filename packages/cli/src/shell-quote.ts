// What no POSIX shell gives a meaning to, wherever it stands in a word.
const PLAIN = /^[A-Za-z0-9_@%+:,./-]+$/;

/**
 * One word of a shell command that stands for exactly this text. Nothing has a meaning between single quotes but the
 * quote itself, which ends them, comes escaped, and opens them again. A NUL fits in no word.
 */
export function shellQuote(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
