import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { builtConsole } from '@florin/console';
import { Fail } from '../platform/fail.ts';
import {
  CACHED_FOREVER,
  htmlAnswer,
  type PageAnswer,
  type PageRequest,
  type PublicPage,
  packedAnswer,
  pageHeaders,
} from '../platform/http/pages/index.ts';

const ASSETS = '/console/assets/';
const API = '/console/api';

/** Scripts are files of ours alone, and a page talks to this origin alone. The library's own styles carry the nonce. */
const policyOf = (nonce: string) => ({
  'script-src': "'self'",
  'style-src': `'self' 'nonce-${nonce}'`,
  'connect-src': "'self'",
  'img-src': 'data:',
});

/** The console's application: one page for all of its addresses, and files, which are read at each request. */
export const appPages = (): PublicPage[] =>
  ['/console', '/console/*'].map((address) => ({ path: address, handle: answer }));

async function answer(request: PageRequest): Promise<PageAnswer> {
  const [address = ''] = request.url.split('?', 1);
  if (address.startsWith(ASSETS)) return await answerFile(request, address);
  if (address === API || address.startsWith(`${API}/`))
    throw new Fail('resource_not_found', 'There is nothing at this path.');
  const { html } = await builtConsole();
  const nonce = randomBytes(16).toString('base64');
  return htmlAnswer({ html: html.replace('NONCE', nonce), policy: policyOf(nonce) });
}

async function answerFile(request: PageRequest, address: string): Promise<PageAnswer> {
  const { files, folder } = await builtConsole();
  const found = files.get(address);
  if (found === undefined) throw new Fail('resource_not_found', 'There is nothing at this path.');
  return await packedAnswer(request, {
    type: found.type,
    version: found.version,
    headers: { ...pageHeaders({}), 'cache-control': CACHED_FOREVER },
    read: () => readFile(path.join(folder, found.file)),
  });
}
