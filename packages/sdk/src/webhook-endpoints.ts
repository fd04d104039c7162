import { CursorList } from './cursor-list.ts';
import { segment, type Transport } from './transport.ts';
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
export class WebhookEndpoints {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Without `types`: all events that the specification names. */
  async create(endpoint: WebhookEndpointInput): Promise<WebhookEndpoint> {
    return this.#transport.send({ method: 'POST', path: ENDPOINTS, body: endpoint, onDoubt: 'stop' });
  }

  async retrieve(endpointId: string): Promise<WebhookEndpoint> {
    return this.#transport.send({ method: 'GET', path: endpointPath(endpointId), onDoubt: 'repeat' });
  }

  /** Newest first. */
  list(query: PageQuery = {}): CursorList<WebhookEndpoint> {
    return new CursorList(this.#transport, ENDPOINTS, query, (endpoint) => endpoint.id);
  }

  /** `status: 'disabled'` pauses its deliveries, `'enabled'` makes them due at once. */
  async update(endpointId: string, change: WebhookEndpointChange): Promise<WebhookEndpoint> {
    const path = endpointPath(endpointId);
    // The change is idempotent, so a read is enough before a retry.
    const read = async (): Promise<undefined> => {
      await this.#transport.once<WebhookEndpoint>({ method: 'GET', path, onDoubt: 'repeat' });
    };
    return this.#transport.send<WebhookEndpoint>({
      method: 'POST',
      path: `${path}/update`,
      body: change,
      onDoubt: read,
    });
  }

  /** Sends a `webhook_endpoint.test` event to it; retrieve the delivery to see what became of it. */
  async test(endpointId: string): Promise<Delivery> {
    return this.#post(`${endpointPath(endpointId)}/test`, {});
  }

  /** Sends what it missed since a time. After a doubt call it again: what was sent is not sent twice. */
  async redeliver(endpointId: string, range: RedeliverInput): Promise<Redelivery> {
    return this.#post(`${endpointPath(endpointId)}/redeliver`, range);
  }

  #post<T>(path: string, body: object): Promise<T> {
    return this.#transport.send({ method: 'POST', path, body, onDoubt: 'stop' });
  }
}

/** Deliveries of events to endpoints, with their attempts. */
export class Deliveries {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Newest first. */
  list(query: DeliveryQuery = {}): CursorList<Delivery> {
    return new CursorList(this.#transport, DELIVERIES, query, (delivery) => delivery.id);
  }

  async retrieve(deliveryId: string): Promise<Delivery> {
    return this.#transport.send({ method: 'GET', path: deliveryPath(deliveryId), onDoubt: 'repeat' });
  }

  /** Sends it again at once, unless it is `pending` or `paused`. */
  async redeliver(deliveryId: string): Promise<Delivery> {
    const path = `${deliveryPath(deliveryId)}/redeliver`;
    return this.#transport.send({ method: 'POST', path, body: {}, onDoubt: 'stop' });
  }
}

function endpointPath(endpointId: string): string {
  return `${ENDPOINTS}/${segment(endpointId)}`;
}

function deliveryPath(deliveryId: string): string {
  return `${DELIVERIES}/${segment(deliveryId)}`;
}
