import {
  Subscription,
  SubscriptionList,
  SubscriptionPath,
  SubscriptionQuery,
  SubscriptionReadQuery,
} from '@florin/contract/schemas';
import { createdRange } from '../platform/db/lists/index.ts';
import { defineList, defineRoute, type Route } from '../platform/http/index.ts';
import type { Platform } from '../platform/platform.ts';
import { expansionsOf, presentExpanded } from './expand.ts';
import { presentSubscription } from './present.ts';
import { getSubscription, subscriptionPage } from './queries.ts';

const PATH = '/api/v1/subscriptions';
const tag = 'Subscriptions';

/** Routes that read subscriptions, which belong to a store. */
export function readRoutes(platform: Platform): Route[] {
  return [
    defineList({
      path: PATH,
      operationId: 'listSubscriptions',
      tag,
      summary: 'List the subscriptions of the store, newest first',
      description: 'has_more is true when there are as many as the limit; there is no further page.',
      query: SubscriptionQuery,
      answer: SubscriptionList,
      refusals: [],
      read: async ({ caller, query: { customer, status, ...query } }, { after: id, ...slice }) => {
        const after = id === undefined ? undefined : await getSubscription(platform.db, caller, id);
        const filter = { customer, status, created: createdRange(query) };
        const rows = await subscriptionPage(platform.db, caller, { ...filter, ...slice, after }).execute();
        return { data: rows.map(presentSubscription), has_more: rows.length === slice.limit };
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${PATH}/{subscription_id}`,
      operationId: 'retrieveSubscription',
      tag,
      summary: 'Read a subscription',
      scope: 'read',
      params: SubscriptionPath,
      query: SubscriptionReadQuery,
      answer: Subscription,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params, query }) => {
        const row = await getSubscription(platform.db, caller, params.subscription_id);
        return { body: await presentExpanded(platform.db, row, expansionsOf(query)) };
      },
    }),
  ];
}
