import type { InboxAttempt, InboxDelivery, InboxEndpoint, InboxEvent } from '@florin/pages';
import { isoOf } from '../../platform/db/index.ts';
import { encodeId } from '../../tenancy/index.ts';
import type { InboxDelivery as DeliveryRow } from '../../webhooks/index.ts';

export interface EventRow {
  event_id: string;
  type: string;
  resource: string;
  sequence: bigint;
  body: string;
  created_at: bigint | number;
}

export interface EndpointRow {
  endpoint_id: string;
  url: string;
  types: readonly string[];
  status: 'enabled' | 'disabled';
  disabled_reason: string | null;
}

export const timeOf = (seconds: bigint | number) => isoOf(Number(seconds) * 1000) ?? '';

export function endpointView(row: EndpointRow): InboxEndpoint {
  const { endpoint_id, url, types, status, disabled_reason: disabledReason } = row;
  return { id: encodeId('webhookEndpoint', endpoint_id), url, types, status, disabledReason };
}

export function eventView(row: EventRow, deliveries: readonly DeliveryRow[]): InboxEvent {
  const { event_id, type, resource, sequence, body, created_at } = row;
  return {
    id: encodeId('event', event_id),
    type,
    resource,
    sequence: String(sequence),
    createdAt: timeOf(created_at),
    body,
    deliveries: deliveries.map(deliveryView),
  };
}

function deliveryView({ delivery_id, url, status, due_at, attempts }: DeliveryRow): InboxDelivery {
  return {
    id: encodeId('delivery', delivery_id),
    url,
    status,
    nextAt: status === 'pending' ? timeOf(due_at) : null,
    attempts: attempts.map(attemptView),
  };
}

function attemptView(attempt: DeliveryRow['attempts'][number]): InboxAttempt {
  const { at, status_code: statusCode, failure, duration_ms: durationMs, response } = attempt;
  return { at: timeOf(at), statusCode, failure, durationMs, response };
}
