import type { Delivery, DeliveryAttempt, WebhookEndpoint } from '@florin/contract/schemas';
import { encodeId } from '../tenancy/index.ts';
import type { DeliveryRow } from './delivery-queries.ts';
import type { EndpointRow } from './endpoint-queries.ts';
import { headersOf } from './request-headers.ts';
import type { StoredAttempt } from './tables.ts';

export function presentEndpoint(row: EndpointRow): WebhookEndpoint {
  return {
    id: encodeId('webhookEndpoint', row.endpoint_id),
    object: 'webhook_endpoint',
    store_id: encodeId('store', row.store_id),
    url: row.url,
    types: row.types,
    status: row.status,
    disabled_reason: row.disabled_reason,
    created: Number(row.created_at),
  };
}

function presentAttempt(
  { event_type: eventType, event_id: eventId }: DeliveryRow,
  { sent, ...attempt }: StoredAttempt,
): DeliveryAttempt {
  return { ...attempt, request_headers: sent === undefined ? null : headersOf({ eventType, eventId }, sent) };
}

export function presentDelivery(row: DeliveryRow): Delivery {
  return {
    id: encodeId('delivery', row.delivery_id),
    object: 'delivery',
    event_id: encodeId('event', row.event_id),
    endpoint_id: encodeId('webhookEndpoint', row.endpoint_id),
    status: row.status,
    attempts: row.attempts.map((attempt) => presentAttempt(row, attempt)),
    next_attempt_at: row.status === 'pending' ? Number(row.due_at) : null,
    created: Number(row.created_at),
  };
}
