import { Event, EventList, EventPath, EventQuery, EventStreamQuery } from '@florin/contract/schemas';
import { pageOf } from '../platform/db/lists/index.ts';
import { defineList, defineRoute, EVENT_STREAM, type Route } from '../platform/http/index.ts';
import type { Platform } from '../platform/platform.ts';
import { cursorIdOf, decodeId } from '../tenancy/index.ts';
import type { LiveEvents } from './live-events.ts';
import { getEvent, listEvents, readStreamPosition } from './queries.ts';

const tag = 'Events';
const STREAM_DESCRIPTION = [
  'Server-sent events: `id` is the event, `event` its type, `data` the event as JSON on one line. They come in order of',
  'commit, each once; a client that reconnects with its last `id` misses none. A comment is sent after 15 s without an',
  'event. An API key may have 10 open streams on one node. The stream ends when the key does.',
].join(' ');
/** Parses the recorded bytes, so that reads and deliveries have the same content. */
const present = (row: { body: string }): Event => JSON.parse(row.body);

export function eventRoutes(platform: Platform, live: LiveEvents): Route[] {
  return [
    defineList({
      path: '/api/v1/events',
      operationId: 'listEvents',
      tag,
      summary: 'List the events of the store, newest first',
      query: EventQuery,
      answer: EventList,
      refusals: [],
      read: async ({ caller, query: { type, resource } }, { after: id, ...slice }) => {
        const filter = { ...slice, after: cursorIdOf('event', id), type, resource };
        return pageOf(await listEvents(platform.db, caller, filter), filter, present);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/events/stream',
      operationId: 'streamEvents',
      tag,
      summary: 'Follow the events of the store as they happen',
      description: STREAM_DESCRIPTION,
      scope: 'read',
      query: EventStreamQuery,
      answer: EVENT_STREAM,
      refusals: [],
      handle: async ({ caller, query, headers }) => {
        const lastId = headers['last-event-id'];
        const after =
          lastId === undefined
            ? { name: query.after, param: 'after' }
            : { name: lastId, param: 'Last-Event-ID' };
        return { body: live.open(caller, await readStreamPosition(platform.db, caller, after)) };
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
