import { formatPrice } from '@florin/contract/currencies';
import type { Subscription, SubscriptionItem } from '@florin/sdk';
import { columnsOf } from './columns.ts';

const itemText = ({
  quantity,
  price_data: { product, unit_amount, currency, recurring },
}: SubscriptionItem) =>
  `${quantity} × ${product} at ${formatPrice(BigInt(unit_amount), currency, 'en')} a ${recurring.interval}`;

const items = (subscription: Subscription) => subscription.items.map(itemText);

const state = columnsOf<Subscription>()(
  'id status customer items payment_method=payment_method_id period_start=current_period_start period_end=current_period_end cancel_at canceled=canceled_at latest_invoice',
  { items },
);
const about = columnsOf<Subscription>()('description created');

/** One subscription; the page for its customer while there is one. */
export const subscriptionSummary = (subscription: Subscription) => ({
  ...state(subscription),
  ...(subscription.checkout_url === undefined ? {} : { checkout_url: subscription.checkout_url }),
  ...about(subscription),
});

/** One of many. */
export const listedSubscription = columnsOf<Subscription>()(
  'id status customer items period_end=current_period_end created',
  { items },
);
