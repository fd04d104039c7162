import { keysOf, tableOf } from '@florin/contract/tables';
import { encodeId, type IdKind } from '../../tenancy/index.ts';

const KINDS = {
  store: 'store',
  batch: 'payoutBatch',
  item: 'payoutItem',
  event: 'event',
  endpoint: 'webhookEndpoint',
  delivery: 'delivery',
  customer: 'customer',
  mail: 'mail',
  method: 'paymentMethod',
  session: 'checkoutSession',
  payment: 'payment',
  link: 'paymentLink',
  subscription: 'subscription',
  invoice: 'invoice',
} as const satisfies Record<string, IdKind>;

/** The id that a kind of resource has in every example. `at` tells several of one kind apart. */
export const exampleIdOf = (kind: IdKind, at = 0): string =>
  encodeId(kind, `01985f2a-3c41-7d5e-9b60-4f1a2c7e${String(at).padStart(4, '0')}`);

export const IDS = tableOf(keysOf(KINDS), (name) => exampleIdOf(KINDS[name]));

/** Names that callers choose and that can be used once: each try of an example has others. */
export const FRESH = { customer: 'customer-17', refund: 'order-1001-refund-1' } as const;

/** Parameters of paths, by the name that the routes give them. */
export const PATH_VALUES: Readonly<Record<string, string>> = {
  batch_id: IDS.batch,
  item_id: IDS.item,
  event_id: IDS.event,
  endpoint_id: IDS.endpoint,
  delivery_id: IDS.delivery,
  customer_id: IDS.customer,
  mail_id: IDS.mail,
  payment_method_id: IDS.method,
  session_id: IDS.session,
  payment_id: IDS.payment,
  payment_link_id: IDS.link,
  refund_id: FRESH.refund,
  subscription_id: IDS.subscription,
  invoice_id: IDS.invoice,
  network: 'erc20',
};
