import type { Subscription, SubscriptionItem } from '@florin/contract/schemas';
import { encodeId } from '../tenancy/index.ts';
import type { SubscriptionRow } from './queries.ts';
import type { StoredItem } from './tables.ts';

/** An object with the named time; empty if the time is null. */
function at<N extends string>(name: N, value: bigint | number | null): { [K in N]?: number } {
  return (value === null ? {} : { [name]: Number(value) }) as { [K in N]?: number };
}

function presentItem(
  item: StoredItem,
  { currency, interval }: Pick<SubscriptionRow, 'currency' | 'interval'>,
): SubscriptionItem {
  return {
    id: encodeId('subscriptionItem', item.id),
    price_data: {
      currency,
      product: item.product,
      unit_amount: Number(item.unit_amount),
      recurring: { interval, interval_count: 1 },
    },
    quantity: item.quantity,
    metadata: item.metadata,
  };
}

/** Callers add expansions and `checkout_url`. */
export function presentSubscription(row: SubscriptionRow): Subscription {
  const { description, payment_method_id: methodId, latest_invoice_id: invoiceId } = row;
  return {
    id: encodeId('subscription', row.subscription_id),
    object: 'subscription',
    customer: row.customer,
    store_id: encodeId('store', row.store_id),
    currency: row.currency,
    ...(description === null ? {} : { description }),
    status: row.status,
    items: row.items.map((item) => presentItem(item, row)),
    ...(methodId === null ? {} : { payment_method_id: encodeId('paymentMethod', methodId) }),
    billing_cycle_anchor: Number(row.billing_cycle_anchor),
    current_period_start: Number(row.current_period_start),
    current_period_end: Number(row.current_period_end),
    ...at('canceled_at', row.canceled_at),
    ...at('cancel_at', row.cancel_at),
    ...(invoiceId === null ? {} : { latest_invoice: encodeId('invoice', invoiceId) }),
    metadata: row.metadata,
    created: Number(row.created_at),
  };
}
