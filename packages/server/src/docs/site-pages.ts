import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { builtSite } from '@florin/site';
import { Fail } from '../platform/fail.ts';
import {
  type PageAnswer,
  type PageRequest,
  type PublicPage,
  pageHeaders,
} from '../platform/http/pages/index.ts';

/** Style, scripts and search are files of our own; no page has any of its own inside. */
const POLICY = {
  'style-src': "'self'",
  'script-src': "'self'",
  'connect-src': "'self'",
  'img-src': 'data:',
  'require-trusted-types-for': "'script'",
  'trusted-types': "'none'",
};

const unpack = promisify(gunzip);

/** The documentation site, read from its files at each request: it takes no memory of this process. */
export const sitePages = (): PublicPage[] =>
  ['/docs', '/docs/*'].map((address) => ({ path: address, handle: answer }));

async function answer(request: PageRequest): Promise<PageAnswer> {
  const site = await builtSite();
  const [address = ''] = request.url.split('?', 1);
  const found = site.files.get(address.replace(/\/$/, ''));
  if (found === undefined) throw new Fail('resource_not_found', 'There is nothing at this path.');
  const headers = {
    ...pageHeaders(POLICY),
    'cache-control': found.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag: `"${found.version}"`,
    vary: 'accept-encoding',
  };
  if (request.headers['if-none-match'] === headers.etag) {
    return { status: 304, type: found.type, headers, body: '' };
  }
  const packed = await readFile(path.join(site.folder, found.file));
  const isCompressed = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
  return {
    status: 200,
    type: found.type,
    headers: isCompressed ? { ...headers, 'content-encoding': 'gzip' } : headers,
    body: isCompressed ? packed : await unpack(packed),
  };
}
