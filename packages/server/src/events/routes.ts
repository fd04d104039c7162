import { Event, EventList, EventPath, EventQuery } from '@florin/contract/schemas';
import { defineRoute, type Route } from '../platform/http/index.ts';
import { decodeId } from '../platform/ids.ts';
import { PAGE_LIMIT_DEFAULT, pageOf, unknownCursor } from '../platform/page.ts';
import type { Platform } from '../platform/platform.ts';
import { getEvent, listEvents } from './queries.ts';

const tag = 'Events';
/** The bytes that were recorded, as an object: what a delivery sends is what a reader sees. */
const present = (row: { body: string }): Event => JSON.parse(row.body);

export function eventRoutes(platform: Platform): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/events',
      operationId: 'listEvents',
      tag,
      summary: 'List the events of the store, newest first',
      scope: 'read',
      query: EventQuery,
      answer: EventList,
      refusals: [],
      handle: async ({ caller, query, url }) => {
        const limit = query.limit ?? PAGE_LIMIT_DEFAULT;
        const after = query.starting_after && decodeId('event', query.starting_after);
        if (query.starting_after !== undefined && after === undefined) throw unknownCursor();
        const filter = { limit, after, type: query.type, resource: query.resource };
        return { body: pageOf(await listEvents(platform.db, caller, filter), { limit, url }, present) };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/events/{event_id}',
      operationId: 'retrieveEvent',
      tag,
      summary: 'Read an event',
      scope: 'read',
      params: EventPath,
      answer: Event,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params }) => ({
        body: present(await getEvent(platform.db, caller, decodeId('event', params.event_id))),
      }),
    }),
  ];
}
