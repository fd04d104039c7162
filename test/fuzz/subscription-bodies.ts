import { NETWORKS } from '@florin/contract/money';
import fc from 'fast-check';

// Bodies of what a payer may subscribe to, and of what becomes of it.

const prices = fc.record(
  {
    price_data: fc.record(
      {
        currency: fc.constant('USD'),
        product: fc.constantFrom('Pro plan', 'Seats'),
        unit_amount: fc.constantFrom(0, 500, 1_999),
        recurring: fc.constant({ interval: 'month' }),
      },
      { noNullPrototype: true },
    ),
    quantity: fc.integer({ min: 1, max: 3 }),
  },
  { requiredKeys: ['price_data'], noNullPrototype: true },
);
const plans = fc.array(prices, { minLength: 1, maxLength: 3 });
export const subscriptions = fc.record(
  {
    customer: fc.constant('customer{{run:0}}'),
    currency: fc.constant('USD'),
    items: plans,
    trial_period_days: fc.constantFrom(0, 14),
    success_url: fc.constant('https://shop.invalid/thanks'),
  },
  { requiredKeys: ['customer', 'currency', 'items'], noNullPrototype: true },
);
export const planChanges = fc.record(
  {
    items: plans,
    proration: fc.constantFrom('now', 'period_end', 'none'),
    metadata: fc.constantFrom({}, { plan: 'pro' }),
    cancel_at: fc.constant(null),
  },
  { requiredKeys: [], noNullPrototype: true },
);
export const authorizations = fc.record(
  {
    currency: fc.constantFrom('USDT', 'USDC'),
    network: fc.constantFrom(...NETWORKS),
    cap: fc.constantFrom(1, 50_000_000),
    balance: fc.constantFrom(0, 5_000_000, 900_000_000),
  },
  { requiredKeys: ['currency', 'network'], noNullPrototype: true },
);
export const portals = fc.constant({
  customer: 'customer{{run:0}}',
  return_url: 'https://shop.invalid/account',
});
