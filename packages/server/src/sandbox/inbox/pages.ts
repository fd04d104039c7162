import { type InboxList, renderList, renderPage } from '@florin/pages';
import { listEvents } from '../../events/index.ts';
import { htmlAnswer, type PublicPage } from '../../platform/http/pages/index.ts';
import type { Platform } from '../../platform/platform.ts';
import { listDeliveriesOf, listEndpoints } from '../../webhooks/index.ts';
import { LIVE_SCRIPT, listAnswer, refuseForeign, refuseOthers, type SandboxOwner } from '../local-pages.ts';
import { endpointView, eventView } from './view.ts';

const EVENTS_SHOWN = 30;
const DELIVERIES_SHOWN = 20;
const ENDPOINTS_SHOWN = 20;

export const INBOX_PATH = '/sandbox/webhooks';
const LIST_PATH = `${INBOX_PATH}/list`;

/** The sandbox's webhook inbox: the newest events, their deliveries and every attempt. */
export function inboxPages(platform: Platform, owner: SandboxOwner): PublicPage[] {
  return [
    {
      path: INBOX_PATH,
      handle: async (request) => {
        refuseForeign(request);
        const list = await readList(platform, owner);
        const paths = { scriptPath: LIVE_SCRIPT, listPath: LIST_PATH };
        return htmlAnswer(await renderPage({ page: 'inbox', ...paths, ...list }));
      },
    },
    {
      path: LIST_PATH,
      handle: async (request) => {
        refuseOthers(request);
        const list = await readList(platform, owner);
        return listAnswer(request, await renderList({ page: 'inbox', ...list }));
      },
    },
  ];
}

async function readList({ db }: Platform, owner: SandboxOwner): Promise<InboxList> {
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
