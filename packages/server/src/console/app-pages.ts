import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { builtConsole, documentOf } from '@florin/console';
import { Fail } from '../platform/fail.ts';
import { TokenBuckets } from '../platform/http/index.ts';
import {
  CACHED_FOREVER,
  htmlAnswer,
  type PageAnswer,
  type PageRequest,
  type PublicPage,
  packedAnswer,
  pageHeaders,
} from '../platform/http/pages/index.ts';
import { networkOf } from '../platform/network-of.ts';
import type { Place } from './routes/own.ts';
import { readStart } from './start.ts';

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
export function appPages(place: Place): PublicPage[] {
  const starts = new TokenBuckets(STARTS.perSecond, STARTS.burst, STARTS.networks);
  const handle = (request: PageRequest) => answer(place, request, starts);
  return ['/console', '/console/*'].map((path) => ({ path, handle }));
}

/** Documents with what the page asks first, for each network of clients; above it the page asks itself, and is limited as it was. */
const STARTS = { perSecond: 5, burst: 60, networks: 10_000 };
/** A database that hangs keeps nobody from the page. */
const START_MS = 2_000;

async function startOf(place: Place, request: PageRequest, starts: TokenBuckets) {
  if (starts.take(networkOf(request.remoteAddress), place.deps.clock.nowMs()) > 0) return undefined;
  const timer = new AbortController();
  const late = sleep(START_MS, undefined, { signal: timer.signal }).catch(() => undefined);
  const start = await Promise.race([readStart(place, request), late]);
  timer.abort();
  return start;
}

async function answer(place: Place, request: PageRequest, starts: TokenBuckets): Promise<PageAnswer> {
  const [address = ''] = request.url.split('?', 1);
  if (address.startsWith(ASSETS)) return await answerFile(request, address);
  if (address === API || address.startsWith(`${API}/`))
    throw new Fail('resource_not_found', 'There is nothing at this path.');
  const [built, start] = await Promise.all([builtConsole(), startOf(place, request, starts)]);
  const nonce = randomBytes(16).toString('base64');
  return htmlAnswer({ html: documentOf(built, { nonce, path: address, start }), policy: policyOf(nonce) });
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
