import { createHash } from 'node:crypto';
import { type InboxList, inboxScript, renderInboxList, renderPage } from '@florin/pages';
import { listEvents } from '../../events/index.ts';
import { Fail } from '../../platform/fail.ts';
import {
  htmlAnswer,
  isLocal,
  type PageRequest,
  type PublicPage,
  pageHeaders,
} from '../../platform/http/index.ts';
import type { Platform } from '../../platform/platform.ts';
import { listDeliveriesOf, listEndpoints } from '../../webhooks/index.ts';
import { endpointView, eventView } from './view.ts';

const EVENTS_SHOWN = 30;
const DELIVERIES_SHOWN = 20;
const ENDPOINTS_SHOWN = 20;

const PAGE = '/sandbox/webhooks';

/** The store of the sandbox, whose webhooks are shown. */
export interface InboxOwner {
  merchantId: string;
  storeId: string;
}

/**
 * The sandbox's webhook inbox: the newest events, their deliveries and every attempt. It needs no key, so it exists in the
 * sandbox only and serves clients on this machine.
 */
export function inboxPages(platform: Platform, owner: InboxOwner): PublicPage[] {
  return [
    {
      path: PAGE,
      handle: async (request) => {
        refuseForeign(request, ['same-origin', 'same-site', 'none', 'cross-site']);
        const list = await readList(platform, owner);
        return htmlAnswer(await renderPage({ page: 'inbox', scriptPath: `${PAGE}/inbox.js`, ...list }));
      },
    },
    {
      path: `${PAGE}/list`,
      handle: async (request) => {
        refuseForeign(request, ['same-origin', 'none']);
        const body = await renderInboxList(await readList(platform, owner));
        const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
        const known = request.headers['if-none-match'] === etag;
        return {
          status: known ? 304 : 200,
          type: 'text/html; charset=utf-8',
          headers: { ...pageHeaders({}), etag },
          body: known ? '' : body,
        };
      },
    },
    {
      path: `${PAGE}/inbox.js`,
      handle: async () => ({
        status: 200,
        type: 'text/javascript; charset=utf-8',
        headers: pageHeaders({}),
        body: (await inboxScript()).body,
      }),
    },
  ];
}

/** Other sites may link to the page, but only the page itself may read its list. */
function refuseForeign(request: PageRequest, sites: readonly string[]): void {
  const site = request.headers['sec-fetch-site'];
  if (isLocal(request) && (site === undefined || sites.includes(site))) return;
  throw new Fail('forbidden', 'The webhook inbox is for browsers on the machine of the sandbox.');
}

async function readList({ db }: Platform, owner: InboxOwner): Promise<InboxList> {
  const events = (await listEvents(db, owner, { limit: EVENTS_SHOWN })).slice(0, EVENTS_SHOWN);
  const ids = events.map((event) => event.event_id);
  const [deliveries, endpoints] = await Promise.all([
    listDeliveriesOf(db, owner, ids, DELIVERIES_SHOWN),
    listEndpoints(db, owner, { limit: ENDPOINTS_SHOWN }),
  ]);
  const byEvent = Map.groupBy(deliveries, (delivery) => delivery.event_id);
  return {
    endpoints: endpoints.slice(0, ENDPOINTS_SHOWN).map(endpointView),
    events: events.map((event) => eventView(event, byEvent.get(event.event_id) ?? [])),
  };
}
