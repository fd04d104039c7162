import type { CheckoutSession } from '@florin/sdk';
import { columnsOf } from '../columns.ts';
import { parseDuration } from '../duration.ts';
import { merchant } from '../operations.ts';
import { choice, made, madeBetween, parsed, sortedPage, text } from '../options.ts';
import { priceOf, readPrice } from '../prices.ts';
import { resource } from '../resource.ts';

const summary = columnsOf<CheckoutSession>()(
  'id status price url payment=payment_id order=order_id description customer expires=expires_at created',
  { price: priceOf },
);

const listed = columnsOf<CheckoutSession>()(
  'id status price order=order_id customer payment=payment_id created',
  { price: priceOf },
);

const STATUSES = ['open', 'processing', 'completed', 'expired', 'canceled', 'frozen'] as const;

const operation = merchant(summary);

export const addCheckout = resource({
  name: 'checkout',
  description: 'Payment sessions: a price and a page to pay it on',
  examples: ['florin checkout create 19.99 USD --order-id A-17', 'florin checkout show cs_01…'],
  operations: [
    operation('list', 'List the payment sessions of the store, newest first', {
      examples: ['florin checkout list --since today --json', 'florin checkout list --order-id A-17'],
      options: {
        status: choice('--status <status>', 'in this status', STATUSES),
        order_id: text('--order-id <id>', 'of this order, by your own reference'),
        customer: text('--customer <id>', 'of this customer, by your own id'),
        currency: text('--currency <code>', 'priced in this currency'),
        ...made,
        ...sortedPage('session'),
      },
      read: madeBetween,
      run: ({ checkout }, query) => checkout.sessions.list(query),
      row: listed,
    }),
    operation('create <amount> <currency>', 'Create a payment session; its url is the page for the payer', {
      examples: [
        'florin checkout create 19.99 USD --order-id A-17',
        'florin checkout create 12.50 USDT --success-url https://shop.example/thanks --json',
      ],
      options: {
        order_id: text('--order-id <id>', 'your own reference'),
        description: text('--description <text>', 'shown to the payer'),
        customer: text('--customer <id>', 'your own id of the customer'),
        customer_email: text('--email <address>', "the customer's"),
        success_url: text('--success-url <url>', 'where the payer may go after paying'),
        cancel_url: text('--cancel-url <url>', 'where the payer may go without paying'),
        expires_in: parsed('--expires-in <time>', 'from 5m to 24h (default 30m)', parseDuration),
      },
      idempotencyKey: 'makes one session of repeats',
      read: ({ amount, currency, ...fields }) => ({ ...readPrice(amount, currency), ...fields }),
      run: ({ checkout }, input, options) => checkout.sessions.create(input, options),
    }),
    operation('show <session>', 'Show a payment session', ({ checkout }, { session }) =>
      checkout.sessions.retrieve(session),
    ),
    operation(
      'cancel <session>',
      'Cancel an open session; money that arrives later is held',
      ({ checkout }, { session }) => checkout.sessions.cancel(session),
    ),
  ],
});
