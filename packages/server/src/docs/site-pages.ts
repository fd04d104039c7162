import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { builtSite } from '@florin/site';
import { Fail } from '../platform/fail.ts';
import {
  CACHED_FOREVER,
  type PageAnswer,
  type PageRequest,
  type PublicPage,
  packedAnswer,
  pageHeaders,
} from '../platform/http/pages/index.ts';

/** Style, scripts and the search index are files; no page has any of them inline. */
const POLICY = {
  'style-src': "'self'",
  'script-src': "'self'",
  'connect-src': "'self'",
  'img-src': 'data:',
  'require-trusted-types-for': "'script'",
  'trusted-types': "'none'",
};

/** The documentation site, read from its files at each request: it takes no memory of this process. */
export const sitePages = (): PublicPage[] =>
  ['/docs', '/docs/*'].map((address) => ({ path: address, handle: answer }));

async function answer(request: PageRequest): Promise<PageAnswer> {
  const site = await builtSite();
  const [address = ''] = request.url.split('?', 1);
  const found = site.files.get(address.replace(/\/$/, ''));
  if (found === undefined) throw new Fail('resource_not_found', 'There is nothing at this path.');
  return await packedAnswer(request, {
    type: found.type,
    version: found.version,
    headers: {
      ...pageHeaders(POLICY),
      'cache-control': found.isImmutable ? CACHED_FOREVER : 'no-cache',
    },
    read: () => readFile(path.join(site.folder, found.file)),
  });
}
