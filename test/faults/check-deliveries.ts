import { createHmac } from 'node:crypto';
import type { ReceivedRequest } from '../webhooks/hostile-receiver.ts';
import { idText } from './check-batches.ts';
import type { Finding, Heard, Query } from './checker.ts';

const EVENTS = `
  select e.event_id, e.merchant_id, e.store_id, e.type, e.resource, e.sequence::int, e.body, w.endpoint_id,
         d.status, coalesce(jsonb_array_length(d.attempts), 0) as attempts, d.attempts -> -1 ->> 'failure' as failure
  from event e
  join webhook_endpoint w on w.merchant_id = e.merchant_id and w.store_id = e.store_id and e.type = any(w.types)
  left join delivery d on d.merchant_id = e.merchant_id and d.event_id = e.event_id and d.endpoint_id = w.endpoint_id
  -- Of an endpoint that was added later the news from before are none of its business.
  where d.event_id is not null or e.recorded_at_ms > (w.created_at + 1) * 1000
  order by e.number`;

/** An event and an endpoint of its store that asked for its type. */
interface Expected {
  event_id: string;
  merchant_id: string;
  type: string;
  resource: string;
  sequence: number;
  body: string;
  endpoint_id: string;
  /** Null: no delivery was made. */
  status: string | null;
  attempts: number;
  failure: string | null;
}

const ATTEMPTS_MAX = 11;
const endpointOf = ({ path }: ReceivedRequest) => path.split('?')[1] ?? '';
const eventOf = ({ headers }: ReceivedRequest) => headers['x-service-event-id'] ?? '';
const keyOf = (endpointId: string, eventId: string) => `${eventId} to ${endpointId}`;

/** How often an event came to an endpoint. */
export function countCopies(webhooks: readonly ReceivedRequest[]): Map<string, number> {
  const copies = new Map<string, number>();
  for (const request of webhooks) {
    const key = keyOf(endpointOf(request), eventOf(request));
    copies.set(key, (copies.get(key) ?? 0) + 1);
  }
  return copies;
}

/**
 * I6: every event that fits an endpoint was delivered at least once or visibly is not; the receiver's news of a resource
 * have no hole; the same bytes at each attempt, stamped, signed and numbered anew. I8: to nobody else.
 */
export async function checkDeliveries(query: Query, { clients, webhooks }: Heard): Promise<Finding[]> {
  const expected = await query<Expected>(EVENTS);
  const byKey = new Map(expected.map((row) => [keyOf(row.endpoint_id, `evt_${idText(row.event_id)}`), row]));
  const copies = countCopies(webhooks);
  const secrets = new Map(clients.map((client) => [client.merchantId, client.credentials.secretKey]));
  const findings = [...byKey].flatMap(([key, row]) => checkOne(key, row, copies.get(key) ?? 0));
  for (const request of webhooks) {
    const key = keyOf(endpointOf(request), eventOf(request));
    const row = byKey.get(key);
    if (row === undefined) findings.push({ invariant: 'I8', what: `${key}: nobody asked for it` });
    else findings.push(...checkRequest(key, request, row, secrets.get(row.merchant_id) ?? ''));
  }
  const nonces = new Set(webhooks.map(({ headers }) => headers['x-service-nonce']));
  if (nonces.size !== webhooks.length) {
    const what = `${webhooks.length} webhooks carry ${nonces.size} nonces`;
    findings.push({ invariant: 'I6', what });
  }
  return [...findings, ...checkSequences(byKey, copies)];
}

/** Delivered means that it came; what did not come says so. */
function checkOne(key: string, { status, attempts, failure }: Expected, copies: number): Finding[] {
  const broken = (what: string) => [{ invariant: 'I6', what: `${key}: ${what}` }];
  if (status === null) return broken('no delivery was made');
  if (attempts > ATTEMPTS_MAX) return broken(`${attempts} attempts in one series`);
  if (status === 'delivered') {
    if (failure !== null) return broken(`is delivered by an attempt that failed: ${failure}`);
    return copies === 0 ? broken('is delivered and never came') : [];
  }
  if (status === 'pending') return broken('is still to be sent');
  return status === 'paused' || failure !== null ? [] : broken(`is ${status} and no attempt says why`);
}

function checkRequest(key: string, request: ReceivedRequest, row: Expected, secret: string): Finding[] {
  const { headers, body } = request;
  const stamp = headers['x-service-timestamp'] ?? '';
  const signature = createHmac('sha256', secret)
    .update(`${stamp}.${headers['x-service-nonce']}.${body}`)
    .digest('hex');
  const faults = [
    body !== row.body && 'other bytes than were recorded',
    headers['x-service-event-type'] !== row.type && 'another type',
    headers['x-service-signature'] !== signature && 'a wrong signature',
    Math.abs(Number(stamp) * 1000 - request.atMs) > 300_000 && 'a stamp that receivers refuse',
  ].filter((fault) => fault !== false);
  return faults.map((fault) => ({ invariant: 'I6', what: `${key}: came with ${fault}` }));
}

/** A receiver that drops stale news sees each state of a resource: 1, 2, 3 … unless one of them visibly did not come. */
function checkSequences(
  byKey: ReadonlyMap<string, Expected>,
  copies: ReadonlyMap<string, number>,
): Finding[] {
  const resources = Map.groupBy(byKey, ([, row]) => `${row.resource} at ${row.endpoint_id}`);
  return [...resources].flatMap(([resource, rows]) => {
    if (rows.some(([, { status }]) => status !== 'delivered')) return [];
    const came = rows.filter(([key]) => copies.has(key)).map(([, { sequence }]) => sequence);
    const isWhole = came.toSorted((a, b) => a - b).every((sequence, i) => sequence === i + 1);
    return isWhole ? [] : [{ invariant: 'I6', what: `news of ${resource} came as ${came.join(', ')}` }];
  });
}
