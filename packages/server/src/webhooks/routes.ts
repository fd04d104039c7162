import {
  Delivery,
  DeliveryList,
  DeliveryPath,
  DeliveryQuery,
  NoFields,
  RedeliverInput,
  Redelivery,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointInput,
  WebhookEndpointList,
  WebhookEndpointPath,
  WebhookEndpointQuery,
} from '@florin/contract/schemas';
import { pageOf } from '../platform/db/lists/index.ts';
import { defineList, defineRoute, type Route } from '../platform/http/index.ts';
import type { Platform } from '../platform/platform.ts';
import { cursorIdOf, decodeId } from '../tenancy/index.ts';
import { createWebhookEndpoint } from './create-webhook-endpoint.ts';
import { getDelivery, listDeliveries } from './delivery-queries.ts';
import { getEndpoint, listEndpoints } from './endpoint-queries.ts';
import { presentDelivery, presentEndpoint } from './present.ts';
import { redeliverDelivery } from './redeliver-delivery.ts';
import { redeliverRange } from './redeliver-range.ts';
import { testWebhookEndpoint } from './test-webhook-endpoint.ts';
import { updateWebhookEndpoint } from './update-webhook-endpoint.ts';

const ENDPOINTS = '/api/v1/webhook_endpoints';
const DELIVERIES = '/api/v1/deliveries';
const tag = 'Webhooks';

function endpointRoutes(platform: Platform): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: ENDPOINTS,
      operationId: 'createWebhookEndpoint',
      tag,
      summary: 'Create a webhook endpoint',
      description:
        'Events of the store that fit its types are sent there from now on. The URL is judged by its text; where its name leads is checked at each connection.',
      scope: 'write',
      body: WebhookEndpointInput,
      answer: WebhookEndpoint,
      refusals: [],
      handle: async ({ caller, body }) => ({ body: await createWebhookEndpoint(platform, caller, body) }),
    }),
    defineList({
      path: ENDPOINTS,
      operationId: 'listWebhookEndpoints',
      tag,
      summary: 'List the webhook endpoints of the store, newest first',
      query: WebhookEndpointQuery,
      answer: WebhookEndpointList,
      refusals: [],
      read: async ({ caller }, { after: id, ...slice }) => {
        const after = cursorIdOf('webhookEndpoint', id);
        return pageOf(await listEndpoints(platform.db, caller, { ...slice, after }), slice, presentEndpoint);
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${ENDPOINTS}/{endpoint_id}`,
      operationId: 'retrieveWebhookEndpoint',
      tag,
      summary: 'Read a webhook endpoint',
      scope: 'read',
      params: WebhookEndpointPath,
      answer: WebhookEndpoint,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params }) => ({
        body: presentEndpoint(await getEndpoint(platform.db, caller, params.endpoint_id)),
      }),
    }),
  ];
}

function endpointChangeRoutes(platform: Platform): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: `${ENDPOINTS}/{endpoint_id}/update`,
      operationId: 'updateWebhookEndpoint',
      tag,
      summary: 'Change, disable or enable a webhook endpoint',
      description:
        'Pending deliveries go to a new URL, too. Disabling pauses them; enabling makes them due at once with the retries that they had left.',
      scope: 'write',
      params: WebhookEndpointPath,
      body: WebhookEndpointChange,
      answer: WebhookEndpoint,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params, body }) => ({
        body: await updateWebhookEndpoint(platform, caller, { endpoint: params.endpoint_id, change: body }),
      }),
    }),
    defineRoute({
      method: 'POST',
      path: `${ENDPOINTS}/{endpoint_id}/test`,
      operationId: 'testWebhookEndpoint',
      tag,
      summary: 'Send a test event to a webhook endpoint',
      description:
        'A `webhook_endpoint.test` event for this endpoint alone. Read the delivery to see what became of it. 400 while the endpoint is disabled.',
      scope: 'write',
      params: WebhookEndpointPath,
      body: NoFields,
      answer: Delivery,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params }) => ({
        body: await testWebhookEndpoint(platform, caller, params.endpoint_id),
      }),
    }),
    defineRoute({
      method: 'POST',
      path: `${ENDPOINTS}/{endpoint_id}/redeliver`,
      operationId: 'redeliverToWebhookEndpoint',
      tag,
      summary: 'Send what a webhook endpoint missed',
      description:
        'Its failed and exhausted deliveries, or the events of its types that have no delivery to it, since a time. 400 while the endpoint is disabled.',
      scope: 'write',
      params: WebhookEndpointPath,
      body: RedeliverInput,
      answer: Redelivery,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params, body }) => ({
        body: await redeliverRange(platform, caller, { ...body, endpoint: params.endpoint_id }),
      }),
    }),
  ];
}

function deliveryRoutes(platform: Platform): Route[] {
  return [
    defineList({
      path: DELIVERIES,
      operationId: 'listDeliveries',
      tag,
      summary: 'List the deliveries of the store, newest first',
      query: DeliveryQuery,
      answer: DeliveryList,
      refusals: [],
      read: async ({ caller, query }, { after: id, ...slice }) => {
        const after = cursorIdOf('delivery', id);
        const eventId = query.event_id && decodeId('event', query.event_id);
        const endpointId = query.endpoint_id && decodeId('webhookEndpoint', query.endpoint_id);
        // An id that decodes to nothing has no deliveries.
        const isNothing =
          (query.event_id !== undefined && eventId === undefined) ||
          (query.endpoint_id !== undefined && endpointId === undefined);
        const filter = { ...slice, after, eventId, endpointId, status: query.status };
        const rows = isNothing ? [] : await listDeliveries(platform.db, caller, filter);
        return pageOf(rows, slice, presentDelivery);
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${DELIVERIES}/{delivery_id}`,
      operationId: 'retrieveDelivery',
      tag,
      summary: 'Read a delivery and its attempts',
      scope: 'read',
      params: DeliveryPath,
      answer: Delivery,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params }) => ({
        body: presentDelivery(await getDelivery(platform.db, caller, params.delivery_id)),
      }),
    }),
    defineRoute({
      method: 'POST',
      path: `${DELIVERIES}/{delivery_id}/redeliver`,
      operationId: 'redeliverDelivery',
      tag,
      summary: 'Send a delivery again',
      description:
        'At once and in a new series of attempts. 400 while it is pending or paused, or its endpoint is disabled.',
      scope: 'write',
      params: DeliveryPath,
      body: NoFields,
      answer: Delivery,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params }) => ({
        body: await redeliverDelivery(platform, caller, params.delivery_id),
      }),
    }),
  ];
}

/** Routes that manage a store's endpoints and show their deliveries. */
export function webhookRoutes(platform: Platform): Route[] {
  return [endpointRoutes, endpointChangeRoutes, deliveryRoutes].flatMap((part) => part(platform));
}
