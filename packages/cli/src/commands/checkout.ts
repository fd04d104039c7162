import type { CheckoutSession } from '@florin/sdk';
import { parseDuration } from '../duration.ts';
import { timeOf, timeOrNone } from '../merchant.ts';
import { merchant, resource } from '../operations.ts';
import { parsed, text } from '../parameters.ts';
import { priceOf, readPrice } from '../prices.ts';

const summary = (session: CheckoutSession) => ({
  id: session.id,
  status: session.status,
  price: priceOf(session),
  url: session.url,
  payment: session.payment_id,
  order: session.order_id,
  description: session.description,
  customer: session.customer,
  expires: timeOrNone(session.expires_at),
  created: timeOf(session.created),
});

export const addCheckout = resource({
  name: 'checkout',
  description: 'Payment sessions: a price and a page to pay it on',
  examples: ['florin checkout create 19.99 USD --order-id A-17', 'florin checkout show cs_01…'],
  operations: [
    merchant('create <amount> <currency>', 'Create a payment session; its url is the page for the payer', {
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
      call: ({ checkout }, input, options) => checkout.sessions.create(input, options),
      row: summary,
    }),
    merchant('show <session>', 'Show a payment session', {
      call: ({ checkout }, { session }) => checkout.sessions.retrieve(session),
      row: summary,
    }),
    merchant('cancel <session>', 'End an open session; money that comes afterwards is held', {
      call: ({ checkout }, { session }) => checkout.sessions.cancel(session),
      row: summary,
    }),
  ],
});
