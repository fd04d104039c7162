const URL_LENGTH_MAX = 2_048;
const HOST_LENGTH_MAX = 253;
const LABEL = /^[^.]{1,63}$/;
// The URL parser deletes or moves some of these in silence: what is saved must be what was meant.
const FORBIDDEN = /[\s\p{White_Space}\p{Cc}\\]/u;

/** The part between `https://` and path, query or fragment, or undefined where the text has none. */
function authorityOf(text: string): string | undefined {
  return /^https:\/\/([^/?#]+)/i.exec(text)?.[1];
}

function isHostName(hostname: string): boolean {
  if (hostname.startsWith('[')) return true;
  const name = hostname.replace(/\.$/, '');
  return name.length <= HOST_LENGTH_MAX && name.split('.').every((label) => LABEL.test(label));
}

/**
 * Judges a callback URL by its text alone; no name is resolved, as what it resolves to now says nothing about later.
 *
 * @returns the URL standard's normal form to store, or why the text is refused, to be said after the parameter's name
 */
export function checkCallbackUrl(text: string): { url: string } | { refused: string } {
  if ([...text].length > URL_LENGTH_MAX) return { refused: `is longer than ${URL_LENGTH_MAX} characters` };
  if (FORBIDDEN.test(text)) return { refused: 'contains white space, a control character or a backslash' };
  const authority = authorityOf(text);
  if (authority === undefined) return { refused: 'must begin with https:// and a host' };
  if (authority.includes('@')) return { refused: 'contains user information' };
  if (text.includes('#')) return { refused: 'contains a fragment' };
  const url = URL.parse(text);
  if (url === null) return { refused: 'is not a valid URL' };
  if (url.port === '0') return { refused: 'has a port outside 1 to 65535' };
  if (!isHostName(url.hostname)) return { refused: 'has a host name with a label or a length out of bounds' };
  // Escapes make it longer than what was given.
  if (url.href.length > URL_LENGTH_MAX) return { refused: `is longer than ${URL_LENGTH_MAX} characters` };
  return { url: url.href };
}
