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
  /**
   * Adds an endpoint. Without `types`: all events that the specification names.
   *
   * @example
   * ```ts
   * const endpoint = await florin.webhookEndpoints.create({ url: 'https://shop.example/webhooks' });
   * ```
   */
  async create(endpoint: WebhookEndpointInput): Promise<WebhookEndpoint> {
    return this.post(ENDPOINTS, endpoint, 'stop');
  }

  /**
   * An endpoint.
   *
   * @example
   * ```ts
   * const { status } = await florin.webhookEndpoints.retrieve(endpointId);
   * ```
   */
  async retrieve(endpointId: string): Promise<WebhookEndpoint> {
    return this.read(endpointPath(endpointId));
  }

  /**
   * The endpoints of the store, newest first.
   *
   * @example
   * ```ts
   * for await (const endpoint of florin.webhookEndpoints.list()) console.log(endpoint.url, endpoint.status);
   * ```
   */
  list(query: PageQuery = {}): CursorList<WebhookEndpoint> {
    return this.pages(ENDPOINTS, query, (endpoint) => endpoint.id);
  }

  /**
   * Changes an endpoint. `status: 'disabled'` pauses its deliveries, `'enabled'` makes them due at once.
   *
   * @example
   * ```ts
   * await florin.webhookEndpoints.update(endpointId, { status: 'enabled' });
   * ```
   */
  async update(endpointId: string, change: WebhookEndpointChange): Promise<WebhookEndpoint> {
    return this.amend(endpointPath(endpointId), change);
  }

  /**
   * Sends a `webhook_endpoint.test` event to it; retrieve the delivery to see what became of it.
   *
   * @example
   * ```ts
   * const delivery = await florin.webhookEndpoints.test(endpointId);
   * console.log((await florin.deliveries.retrieve(delivery.id)).status);
   * ```
   */
  async test(endpointId: string): Promise<Delivery> {
    return this.post(`${endpointPath(endpointId)}/test`, {}, 'stop');
  }

  /**
   * Sends what it missed since a time. After a doubt call it again: what was sent is not sent twice.
   *
   * @example
   * ```ts
   * const yesterday = Math.floor(Date.now() / 1000) - 86_400;
   * await florin.webhookEndpoints.redeliver(endpointId, { since: yesterday, which: 'missing' });
   * ```
   */
  async redeliver(endpointId: string, range: RedeliverInput): Promise<Redelivery> {
    return this.post(`${endpointPath(endpointId)}/redeliver`, range, 'stop');
  }
}

/** Deliveries of events to endpoints, with their attempts. */
export class Deliveries extends Resource {
  /**
   * The deliveries of the store, newest first.
   *
   * @example
   * ```ts
   * const { data } = await florin.deliveries.list({ status: 'failed' });
   * ```
   */
  list(query: DeliveryQuery = {}): CursorList<Delivery> {
    return this.pages(DELIVERIES, query, (delivery) => delivery.id);
  }

  /**
   * A delivery with its attempts.
   *
   * @example
   * ```ts
   * const { attempts } = await florin.deliveries.retrieve(deliveryId);
   * console.log(attempts?.at(-1)?.status_code);
   * ```
   */
  async retrieve(deliveryId: string): Promise<Delivery> {
    return this.read(deliveryPath(deliveryId));
  }

  /**
   * Sends it again at once, unless it is `pending` or `paused`.
   *
   * @example
   * ```ts
   * await florin.deliveries.redeliver(deliveryId);
   * ```
   */
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
