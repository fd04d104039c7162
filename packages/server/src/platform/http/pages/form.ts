import type { PageRequest } from './page.ts';

const TYPE = 'application/x-www-form-urlencoded';
const BYTES_MAX = 1_024;

/**
 * The fields of a form of one of our pages. Anything else counts as an empty form: another content type, more than
 * `bytesMax` bytes (1,024), or a post that the browser marks as sent by another site.
 */
export function formOf(
  { headers, body }: Pick<PageRequest, 'headers' | 'body'>,
  bytesMax = BYTES_MAX,
): URLSearchParams {
  const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  const isOurs = type === TYPE && body.length <= bytesMax && !isForeign(headers['sec-fetch-site']);
  return new URLSearchParams(isOurs ? body.toString() : '');
}

/** Programs and old browsers send no such header; the secret address of a page protects it from them. */
const isForeign = (site: string | undefined) => site === 'cross-site' || site === 'same-site';
