import Type from 'typebox';
import type { LiveEvents } from '../../events/index.ts';
import { Fail } from '../../platform/fail.ts';
import { defineRoute, EVENT_STREAM, type Route } from '../../platform/http/index.ts';
import { listStores } from '../../stores/index.ts';
import { decodeId } from '../../tenancy/index.ts';
import type { ConsoleDeps } from '../accounts/index.ts';

const DESCRIPTION = [
  'Server-sent events: `changed` says that something of the store has changed, at most once a second, and never what: a',
  'page reads again what it shows. Its `id` is a number of the stream; with the last one in `Last-Event-ID` nothing is',
  'missed. A comment is sent after 15 s without a change. The stream ends after a minute, and does not keep a session from',
  'ending. A session may have 10 on one node.',
].join(' ');

/** The number that a browser was told last. Others are no fault of the page: it is told from now on. */
const seenOf = (lastId: string | undefined): bigint | undefined =>
  lastId !== undefined && /^\d{1,18}$/.test(lastId) ? BigInt(lastId) : undefined;

/** Pages that show a store follow its changes. */
export const changeRoutes = (deps: ConsoleDeps, liveEvents: LiveEvents): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/console/api/merchants/{merchant_id}/stores/{store_id}/changes',
    operationId: 'followChanges',
    tag: 'Search',
    summary: 'Be told when something of a store has changed',
    description: DESCRIPTION,
    scope: 'read',
    permission: { name: 'see' },
    params: Type.Object({ merchant_id: Type.String(), store_id: Type.String() }),
    answer: EVENT_STREAM,
    refusals: ['resource_not_found'],
    handle: async ({ caller, params, headers }) => {
      const storeId = decodeId('store', params.store_id);
      const stores = await listStores(deps, caller.merchantId);
      if (storeId === undefined || !stores.some((one) => one.store_id === storeId))
        throw new Fail('resource_not_found', 'This merchant has no such store.');
      return { body: liveEvents.watch({ ...caller, storeId }, seenOf(headers['last-event-id'])) };
    },
  }),
];
