import type { SubscriptionItemInput } from '@florin/sdk';
import { parseWhole } from '../duration.ts';
import { merchant } from '../operations.ts';
import { choice, limit, made, madeBetween, parsed, required, sort, text } from '../options.ts';
import { readPrice } from '../prices.ts';
import { resource } from '../resource.ts';
import { listedSubscription, subscriptionSummary } from '../subscription-rows.ts';
import { cancel, update } from './subscription-changes.ts';

const STATUSES = ['incomplete', 'trialing', 'active', 'past_due', 'canceled', 'incomplete_expired'] as const;
const INTERVALS = ['day', 'week', 'month', 'year'] as const;

const operation = merchant(subscriptionSummary);

const list = merchant(listedSubscription)('list', 'List the subscriptions of the store, newest first', {
  examples: [
    'florin subscriptions list',
    'florin subscriptions list --status past_due --limit 100 --json',
    'florin subscriptions list --customer customer-17',
    'florin subscriptions list --csv > subscriptions.csv',
  ],
  options: {
    customer: text('--customer <id>', 'of this customer, by your own id'),
    status: choice('--status <status>', 'in this status', STATUSES),
    ...made,
    limit,
    sort,
  },
  run: async ({ subscriptions }, line) => (await subscriptions.list(madeBetween(line))).data,
  csv: ({ subscriptions }, line) => subscriptions.csv(madeBetween(line)),
});

const show = operation('show <subscription>', 'Show a subscription', {
  run: ({ subscriptions }, { subscription }) => subscriptions.retrieve(subscription),
});

const create = operation(
  'create <amount> <currency>',
  'Create a subscription; its checkout_url is the page for the customer',
  {
    examples: [
      'florin subscriptions create 19.99 USD --customer customer-17 --every month --product "Gold"',
      'florin subscriptions create 12.50 USDT --customer customer-17 --every week --product box --trial-days 14 --json',
    ],
    options: {
      customer: required(text('--customer <id>', 'your own id of the customer; made if it is new')),
      interval: required(choice('--every <interval>', 'how often it is paid', INTERVALS)),
      product: required(text('--product <name>', 'what it is for, shown to the customer')),
      quantity: parsed('--quantity <count>', 'so many of it', parseWhole),
      description: text('--description <text>', 'shown to the customer'),
      trial_period_days: parsed('--trial-days <days>', 'before the first period', parseWhole),
      payment_method_id: text('--payment-method <id>', 'charged at once'),
      customer_email: text('--email <address>', "the customer's"),
      success_url: text('--success-url <url>', 'where the customer may go after paying'),
      cancel_url: text('--cancel-url <url>', 'where the customer may go without paying'),
    },
    idempotencyKey: 'makes one subscription of repeats',
    read: ({ amount: price, currency: code, interval, product, quantity, ...fields }) => {
      const { amount, currency } = readPrice(price, code);
      const item: SubscriptionItemInput = {
        price_data: { currency, product, unit_amount: amount, recurring: { interval } },
        ...(quantity === undefined ? {} : { quantity }),
      };
      return { currency, items: [item], ...fields };
    },
    run: ({ subscriptions }, input, options) => subscriptions.create(input, options),
  },
);

export const addSubscriptions = resource({
  name: 'subscriptions',
  description: 'Recurring payments of customers',
  examples: [
    'florin subscriptions create 19.99 USD --customer customer-17 --every month --product "Gold"',
    'florin subscriptions list --status past_due',
  ],
  operations: [list, show, create, cancel, update],
});
