import { priceUnits } from './amounts.ts';
import { valuesOf } from './cursor-list.ts';
import { Resource } from './resource.ts';
import { segment } from './transport.ts';
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
export class Subscriptions extends Resource {
  /**
   * Where the answer has a `checkout_url`, send the customer there: to pay first, or to give a mandate. A create that may
   * or may not have happened is repeated with the same Idempotency-Key, which makes one subscription of both. Throws
   * InvalidRequestError, ConflictError for a key that stands for another request, and the common ones.
   *
   * @example
   * ```ts
   * const subscription = await florin.subscriptions.create({
   *   customer: 'user-17',
   *   currency: 'USD',
   *   items: [{ price_data: { product: 'pro', unit_amount: 1900, currency: 'USD', recurring: { interval: 'month' } } }],
   * });
   * console.log(subscription.checkout_url);
   * ```
   */
  async create(subscription: SubscriptionInput, options: CreateOptions = {}): Promise<Subscription> {
    const body = { ...subscription, items: subscription.items.map(itemBody) };
    return this.createOnce(`${PATH}/create`, body, options);
  }

  /**
   * A subscription. `expand`: what to return whole beside its id, as `latest_invoice_object` and so on.
   *
   * @example
   * ```ts
   * const subscription = await florin.subscriptions.retrieve(subscriptionId, { expand: ['latest_invoice'] });
   * console.log(subscription.latest_invoice_object?.status);
   * ```
   */
  async retrieve(
    subscriptionId: string,
    { expand = [] }: SubscriptionReadOptions = {},
  ): Promise<Subscription> {
    const query = { expand: expand.length === 0 ? undefined : expand.join(',') };
    return this.read(subscriptionPath(subscriptionId), query);
  }

  /**
   * The subscriptions of the store, newest first. There is no further page: `has_more` says that there are as many as
   * the limit.
   *
   * @example
   * ```ts
   * const { data, has_more } = await florin.subscriptions.list({ customer: 'user-17' });
   * ```
   */
  async list(query: SubscriptionQuery = {}): Promise<SubscriptionList> {
    return this.read(PATH, valuesOf(query));
  }

  /**
   * Everything that fits the query as CSV, newest first, in pieces of UTF-8 as they arrive. The last line is `# n rows`;
   * throws FlorinError where the answer breaks off before it.
   *
   * @example
   * ```ts
   * for await (const piece of florin.subscriptions.csv({ status: 'active' })) process.stdout.write(piece);
   * ```
   */
  csv(query: SubscriptionQuery = {}, signal?: AbortSignal): AsyncIterable<Uint8Array> {
    const { limit: _, ...filter } = query;
    return this.export(PATH, valuesOf(filter), signal);
  }

  /**
   * Ends a subscription now, or as `cancel_at_period_end` or `cancel_at` say. Throws InvalidRequestError for one that
   * has ended.
   *
   * @example
   * ```ts
   * await florin.subscriptions.cancel(subscriptionId, { cancel_at_period_end: true });
   * ```
   */
  async cancel(subscriptionId: string, when: SubscriptionCancelInput = {}): Promise<Subscription> {
    const path = subscriptionPath(subscriptionId);
    const find = this.foundIf<Subscription>(path, ({ status }) => status === 'canceled');
    return this.post(`${path}/cancel`, when, find);
  }

  /**
   * Changes a subscription. What is left out stays as it is; `cancel_at: null` takes a planned end back.
   *
   * @example
   * ```ts
   * await florin.subscriptions.update(subscriptionId, { cancel_at: null });
   * ```
   */
  async update(subscriptionId: string, change: SubscriptionUpdateInput): Promise<Subscription> {
    return this.amend(subscriptionPath(subscriptionId), changeBody(change));
  }

  /**
   * The invoice that this change would open, else the one of the next cycle.
   *
   * @example
   * ```ts
   * const preview = await florin.subscriptions.previewUpdate(subscriptionId, { items });
   * console.log(preview.amount_due);
   * ```
   */
  async previewUpdate(subscriptionId: string, change: SubscriptionUpdateInput): Promise<InvoicePreview> {
    const path = `${subscriptionPath(subscriptionId)}/update/preview`;
    return this.post(path, changeBody(change), 'repeat');
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
