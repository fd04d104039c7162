import { randomUUID } from 'node:crypto';
import { priceUnits } from './amounts.ts';
import { segment, type Transport } from './transport.ts';
import type {
  CreateOptions,
  InvoicePreview,
  Subscription,
  SubscriptionCancelInput,
  SubscriptionInput,
  SubscriptionItemInput,
  SubscriptionList,
  SubscriptionQuery,
  SubscriptionReadOptions,
  SubscriptionUpdateInput,
} from './types.ts';

const PATH = '/subscriptions';

/** Recurring payments of customers. */
export class Subscriptions {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Where the answer has a `checkout_url`, send the customer there: to pay first, or to give a mandate. A create that may
   * or may not have happened is repeated with the same Idempotency-Key, which makes one subscription of both. Throws
   * InvalidRequestError, ConflictError for a key that stands for another request, and the common ones.
   */
  async create(subscription: SubscriptionInput, options: CreateOptions = {}): Promise<Subscription> {
    return this.#transport.send({
      method: 'POST',
      path: `${PATH}/create`,
      body: { ...subscription, items: subscription.items.map(itemBody) },
      idempotencyKey: options.idempotencyKey ?? randomUUID(),
      onDoubt: 'repeat',
    });
  }

  /** `expand`: what to return whole beside its id, as `latest_invoice_object` and so on. */
  async retrieve(
    subscriptionId: string,
    { expand = [] }: SubscriptionReadOptions = {},
  ): Promise<Subscription> {
    return this.#transport.send({
      method: 'GET',
      path: subscriptionPath(subscriptionId),
      query: { expand: expand.length === 0 ? undefined : expand.join(',') },
      onDoubt: 'repeat',
    });
  }

  /** Newest first. There is no further page: `has_more` says that there are as many as the limit. */
  async list(query: SubscriptionQuery = {}): Promise<SubscriptionList> {
    return this.#transport.send({ method: 'GET', path: PATH, query: { ...query }, onDoubt: 'repeat' });
  }

  /** Now, or as `cancel_at_period_end` or `cancel_at` say. Throws InvalidRequestError for one that has ended. */
  async cancel(subscriptionId: string, when: SubscriptionCancelInput = {}): Promise<Subscription> {
    const path = subscriptionPath(subscriptionId);
    const find = async (): Promise<Subscription | undefined> => {
      const subscription = await this.#once<Subscription>(path);
      return subscription.status === 'canceled' ? subscription : undefined;
    };
    return this.#transport.send({ method: 'POST', path: `${path}/cancel`, body: when, onDoubt: find });
  }

  /** What is left out stays as it is; `cancel_at: null` takes a planned end back. */
  async update(subscriptionId: string, change: SubscriptionUpdateInput): Promise<Subscription> {
    const path = subscriptionPath(subscriptionId);
    // The change is idempotent, so a read is enough before a retry.
    const read = async (): Promise<undefined> => {
      await this.#once<Subscription>(path);
    };
    return this.#transport.send<Subscription>({
      method: 'POST',
      path: `${path}/update`,
      body: changeBody(change),
      onDoubt: read,
    });
  }

  /** The invoice that this change would open, else the one of the next cycle. */
  async previewUpdate(subscriptionId: string, change: SubscriptionUpdateInput): Promise<InvoicePreview> {
    const path = `${subscriptionPath(subscriptionId)}/update/preview`;
    return this.#transport.send({ method: 'POST', path, body: changeBody(change), onDoubt: 'repeat' });
  }

  #once<T>(path: string): Promise<T> {
    return this.#transport.once({ method: 'GET', path, onDoubt: 'repeat' });
  }
}

function subscriptionPath(subscriptionId: string): string {
  return `${PATH}/${segment(subscriptionId)}`;
}

function itemBody({ price_data: price, ...rest }: SubscriptionItemInput): object {
  return { ...rest, price_data: { ...price, unit_amount: priceUnits(price.unit_amount) } };
}

function changeBody({ items, ...rest }: SubscriptionUpdateInput): object {
  return items === undefined ? rest : { ...rest, items: items.map(itemBody) };
}
