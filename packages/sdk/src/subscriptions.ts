import { priceUnits } from './amounts.ts';
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
   */
  async create(subscription: SubscriptionInput, options: CreateOptions = {}): Promise<Subscription> {
    const body = { ...subscription, items: subscription.items.map(itemBody) };
    return this.createOnce(`${PATH}/create`, body, options);
  }

  /** `expand`: what to return whole beside its id, as `latest_invoice_object` and so on. */
  async retrieve(
    subscriptionId: string,
    { expand = [] }: SubscriptionReadOptions = {},
  ): Promise<Subscription> {
    const query = { expand: expand.length === 0 ? undefined : expand.join(',') };
    return this.read(subscriptionPath(subscriptionId), query);
  }

  /** Newest first. There is no further page: `has_more` says that there are as many as the limit. */
  async list(query: SubscriptionQuery = {}): Promise<SubscriptionList> {
    return this.read(PATH, { ...query });
  }

  /**
   * Everything that fits the query as CSV, newest first, in pieces of UTF-8 as they arrive. The last line is `# n rows`;
   * throws FlorinError where the answer breaks off before it.
   */
  csv({ customer, status }: SubscriptionQuery = {}, signal?: AbortSignal): AsyncIterable<Uint8Array> {
    return this.export(PATH, { customer, status }, signal);
  }

  /** Now, or as `cancel_at_period_end` or `cancel_at` say. Throws InvalidRequestError for one that has ended. */
  async cancel(subscriptionId: string, when: SubscriptionCancelInput = {}): Promise<Subscription> {
    const path = subscriptionPath(subscriptionId);
    const find = this.foundIf<Subscription>(path, ({ status }) => status === 'canceled');
    return this.post(`${path}/cancel`, when, find);
  }

  /** What is left out stays as it is; `cancel_at: null` takes a planned end back. */
  async update(subscriptionId: string, change: SubscriptionUpdateInput): Promise<Subscription> {
    return this.amend(subscriptionPath(subscriptionId), changeBody(change));
  }

  /** The invoice that this change would open, else the one of the next cycle. */
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
