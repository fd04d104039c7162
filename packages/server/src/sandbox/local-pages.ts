import { createHash } from 'node:crypto';
import { liveScript } from '@florin/pages';
import { Fail } from '../platform/fail.ts';
import {
  isLocal,
  type PageAnswer,
  type PageRequest,
  type PublicPage,
  pageHeaders,
} from '../platform/http/pages/index.ts';

/*
 * Pages of the sandbox that show its store without a key: they exist in the sandbox only and serve clients on this machine.
 */

/** The store of the sandbox, which the pages show. */
export interface SandboxOwner {
  merchantId: string;
  storeId: string;
}

const ANY_SITE = ['same-origin', 'same-site', 'none', 'cross-site'];

/** Other sites may link to a page. @throws Fail `forbidden` */
export const refuseForeign = (request: PageRequest): void => refuse(request, ANY_SITE);

/** Only pages of the sandbox itself may read it, or send a form to it. @throws Fail `forbidden` */
export function refuseOthers(request: PageRequest): void {
  const { origin, host, 'sec-fetch-site': site } = request.headers;
  refuse(request, ['same-origin', 'none']);
  // Of a browser that does not say the site. The others send `null`, as our pages have no referrer.
  if (site === undefined && origin !== undefined && URL.parse(origin)?.host !== host) throw refusal();
}

function refuse(request: PageRequest, sites: readonly string[]): void {
  const site = request.headers['sec-fetch-site'];
  if (!isLocal(request) || (site !== undefined && !sites.includes(site))) throw refusal();
}

const refusal = () => new Fail('forbidden', 'This page is for browsers on the machine of the sandbox.');

/** The list of a page, which is sent again only where it has changed. */
export function listAnswer(request: PageRequest, body: string): PageAnswer {
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  const isKnown = request.headers['if-none-match'] === etag;
  return {
    status: isKnown ? 304 : 200,
    type: 'text/html; charset=utf-8',
    headers: { ...pageHeaders({}), etag },
    body: isKnown ? '' : body,
  };
}

export const LIVE_SCRIPT = '/sandbox/live.js';

/** The script that all these pages share. */
export const liveScriptPage = (): PublicPage => ({
  path: LIVE_SCRIPT,
  handle: async () => ({
    status: 200,
    type: 'text/javascript; charset=utf-8',
    headers: pageHeaders({}),
    body: (await liveScript()).body,
  }),
});
