/** Characters of a caller's text that an answer or the log quotes at most. */
export const QUOTED_LENGTH_MAX = 200;
const ELLIPSIS = '…';

/** Cuts a text to `max` characters, the ellipsis included, without splitting a surrogate pair. */
export function shorten(text: string, max = QUOTED_LENGTH_MAX): string {
  if (text.length <= max) return text;
  const kept = text.slice(0, max - ELLIPSIS.length);
  return (kept.isWellFormed() ? kept : kept.slice(0, -1)) + ELLIPSIS;
}
