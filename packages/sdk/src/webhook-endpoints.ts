import type { CursorList } from './cursor-list.ts';
import { Resource } from './resource.ts';
import { segment } from './transport.ts';
import type {
  Delivery,
  DeliveryQuery,
  PageQuery,
  RedeliverInput,
  Redelivery,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointInput,
} from './types.ts';

const ENDPOINTS = '/webhook_endpoints';
const DELIVERIES = '/deliveries';

/** Where the store's events are sent. Writes that may or may not have happened are not repeated by themselves. */
export class WebhookEndpoints extends Resource {
  /** Without `types`: all events that the specification names. */
  async create(endpoint: WebhookEndpointInput): Promise<WebhookEndpoint> {
    return this.post(ENDPOINTS, endpoint, 'stop');
  }

  async retrieve(endpointId: string): Promise<WebhookEndpoint> {
    return this.read(endpointPath(endpointId));
  }

  /** Newest first. */
  list(query: PageQuery = {}): CursorList<WebhookEndpoint> {
    return this.pages(ENDPOINTS, query, (endpoint) => endpoint.id);
  }

  /** `status: 'disabled'` pauses its deliveries, `'enabled'` makes them due at once. */
  async update(endpointId: string, change: WebhookEndpointChange): Promise<WebhookEndpoint> {
    return this.amend(endpointPath(endpointId), change);
  }

  /** Sends a `webhook_endpoint.test` event to it; retrieve the delivery to see what became of it. */
  async test(endpointId: string): Promise<Delivery> {
    return this.post(`${endpointPath(endpointId)}/test`, {}, 'stop');
  }

  /** Sends what it missed since a time. After a doubt call it again: what was sent is not sent twice. */
  async redeliver(endpointId: string, range: RedeliverInput): Promise<Redelivery> {
    return this.post(`${endpointPath(endpointId)}/redeliver`, range, 'stop');
  }
}

/** Deliveries of events to endpoints, with their attempts. */
export class Deliveries extends Resource {
  /** Newest first. */
  list(query: DeliveryQuery = {}): CursorList<Delivery> {
    return this.pages(DELIVERIES, query, (delivery) => delivery.id);
  }

  async retrieve(deliveryId: string): Promise<Delivery> {
    return this.read(deliveryPath(deliveryId));
  }

  /** Sends it again at once, unless it is `pending` or `paused`. */
  async redeliver(deliveryId: string): Promise<Delivery> {
    return this.post(`${deliveryPath(deliveryId)}/redeliver`, {}, 'stop');
  }
}

function endpointPath(endpointId: string): string {
  return `${ENDPOINTS}/${segment(endpointId)}`;
}

function deliveryPath(deliveryId: string): string {
  return `${DELIVERIES}/${segment(deliveryId)}`;
}
