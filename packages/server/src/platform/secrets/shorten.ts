/** Characters of a caller's text that an answer or the log quotes at most. */
export const QUOTED_LENGTH_MAX = 200;
const ELLIPSIS = '…';

/** Digits of a signature that are stored: enough to tell two signatures apart, too few to send one again. */
const SIGNATURE_DIGITS = 8;

/** A signature as it is kept and shown: in ASCII, as it stands in each row of logs that are written often. */
export const shortenSignature = (text: string): string =>
  text.length <= SIGNATURE_DIGITS ? text : `${text.slice(0, SIGNATURE_DIGITS)}...`;

/** Cuts a text to `max` characters, the ellipsis included, without splitting a surrogate pair. */
export function shorten(text: string, max = QUOTED_LENGTH_MAX): string {
  if (text.length <= max) return text;
  const kept = text.slice(0, max - ELLIPSIS.length);
  return (kept.isWellFormed() ? kept : kept.slice(0, -1)) + ELLIPSIS;
}
