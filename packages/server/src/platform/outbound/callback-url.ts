const URL_LENGTH_MAX = 2_048;
const HOST_LENGTH_MAX = 253;
const LABEL = /^[^.]{1,63}$/;
// The URL parser silently deletes or moves some of these: the saved URL must be the intended one.
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
 * Checks the text of a callback URL. No name is resolved, as it may resolve to another address later.
 *
 * @returns the normal form of the URL standard to store, or a reason that completes a sentence after the parameter's name
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
  // Escapes may make it longer than the text.
  if (url.href.length > URL_LENGTH_MAX) return { refused: `is longer than ${URL_LENGTH_MAX} characters` };
  return { url: url.href };
}
