import { formatPrice } from '@florin/contract/currencies';
import type { Subscription, SubscriptionItem } from '@florin/sdk';
import { timeOf, timeOrNone } from './merchant.ts';

const itemText = ({
  quantity,
  price_data: { product, unit_amount, currency, recurring },
}: SubscriptionItem) =>
  `${quantity} × ${product} at ${formatPrice(BigInt(unit_amount), currency, 'en')} a ${recurring.interval}`;

/** One subscription. */
export const subscriptionSummary = (subscription: Subscription) => ({
  id: subscription.id,
  status: subscription.status,
  customer: subscription.customer,
  items: subscription.items.map(itemText),
  payment_method: subscription.payment_method_id,
  period_start: timeOrNone(subscription.current_period_start),
  period_end: timeOrNone(subscription.current_period_end),
  cancel_at: timeOrNone(subscription.cancel_at),
  canceled: timeOrNone(subscription.canceled_at),
  latest_invoice: subscription.latest_invoice,
  ...(subscription.checkout_url === undefined ? {} : { checkout_url: subscription.checkout_url }),
  description: subscription.description,
  created: timeOf(subscription.created),
});

/** One of many. */
export const listedSubscription = (subscription: Subscription) => ({
  id: subscription.id,
  status: subscription.status,
  customer: subscription.customer,
  items: subscription.items.map(itemText),
  period_end: timeOrNone(subscription.current_period_end),
  created: timeOf(subscription.created),
});
