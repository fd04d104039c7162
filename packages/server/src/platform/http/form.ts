import type { PageRequest } from './page.ts';

const TYPE = 'application/x-www-form-urlencoded';
const BYTES_MAX = 1_024;

/**
 * The fields of a form that a page of ours sent. What no such page sends is an empty form, which asks for nothing: another
 * type, more than our fields hold, or a post that the browser says another site has made it send.
 */
export function formOf({ headers, body }: Pick<PageRequest, 'headers' | 'body'>): URLSearchParams {
  const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  const isOurs = type === TYPE && body.length <= BYTES_MAX && !isForeign(headers['sec-fetch-site']);
  return new URLSearchParams(isOurs ? body.toString() : '');
}

/** Programs and old browsers say nothing of it: what protects a page from them is its secret address. */
const isForeign = (site: string | undefined) => site === 'cross-site' || site === 'same-site';
