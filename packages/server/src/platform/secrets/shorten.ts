/** What is quoted of a text that a caller made up, in an answer or in the log. */
export const QUOTED_LENGTH_MAX = 200;
const ELLIPSIS = '…';

/** The beginning of a long text, as long as `max` at most with the mark that it goes on. A pair of surrogates stays whole. */
export function shorten(text: string, max = QUOTED_LENGTH_MAX): string {
  if (text.length <= max) return text;
  const kept = text.slice(0, max - ELLIPSIS.length);
  return (kept.isWellFormed() ? kept : kept.slice(0, -1)) + ELLIPSIS;
}
