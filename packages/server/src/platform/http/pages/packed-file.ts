import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { PageAnswer, PageRequest } from './page.ts';

const unpack = promisify(gunzip);

/** `cache-control` of an address that contains the hash of its content: a year, and never asked about. */
export const CACHED_FOREVER = 'public, max-age=31536000, immutable';

/** Whether a caller takes gzip: `gzip;q=0` says that it does not. */
export const acceptsGzip = ({ headers }: Pick<PageRequest, 'headers'>): boolean =>
  /(^|,)\s*gzip\s*(,|;(?!\s*q=0(\.0*)?\s*(,|$))|$)/.test(headers['accept-encoding'] ?? '');

/** A file that is kept compressed alone. */
export interface PackedFile {
  type: string;
  /** Short name of its content: a caller that has this one gets 304. */
  version: string;
  headers: Readonly<Record<string, string>>;
  /** Its bytes, compressed with gzip. */
  read: () => Promise<Buffer>;
}

/** The answer with a file: nothing where the caller has it, compressed where the caller takes that. */
export async function packedAnswer(
  request: Pick<PageRequest, 'headers'>,
  { type, version, headers: own, read }: PackedFile,
): Promise<PageAnswer> {
  const headers = { ...own, etag: `"${version}"`, vary: 'accept-encoding' };
  if (request.headers['if-none-match'] === headers.etag) return { status: 304, type, headers, body: '' };
  const packed = await read();
  return acceptsGzip(request)
    ? { status: 200, type, headers: { ...headers, 'content-encoding': 'gzip' }, body: packed }
    : { status: 200, type, headers, body: await unpack(packed) };
}
