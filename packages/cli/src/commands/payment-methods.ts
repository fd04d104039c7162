import type { PaymentMethod } from '@florin/sdk';
import { columnsOf } from '../columns.ts';
import { merchant } from '../operations.ts';
import { choice, made, madeBetween, network, sortedPage, text, token } from '../options.ts';
import { resource } from '../resource.ts';

const NETWORKS: Readonly<Record<number, string>> = { 1: 'erc20', 2: 'trc20', 3: 'spl' };

const summary = columnsOf<PaymentMethod>()('id status customer currency network mandate=mandate_id created', {
  network: ({ chain_type: type }) => NETWORKS[type] ?? type,
});

const operation = merchant(summary);

export const addPaymentMethods = resource({
  name: 'payment-methods',
  description: "Mandates of customers' wallets, with which invoices are charged",
  examples: ['florin payment-methods list --customer customer-17', 'florin payment-methods revoke pm_01…'],
  operations: [
    operation('list', 'List the payment methods of the merchant, newest first', {
      examples: [
        'florin payment-methods list --customer customer-17',
        'florin payment-methods list --limit 100 --json',
      ],
      options: {
        customer: text('--customer <id>', 'of this customer, by your own id or ours'),
        status: choice('--status <status>', 'in this status', ['active', 'inactive', 'revoked', 'unknown']),
        currency: token,
        network,
        ...made,
        ...sortedPage('method'),
      },
      read: madeBetween,
      run: ({ paymentMethods }, query) => paymentMethods.list(query),
    }),
    operation('show <method>', 'Show a payment method', ({ paymentMethods }, { method }) =>
      paymentMethods.retrieve(method),
    ),
    operation(
      'revoke <method>',
      'Detach a payment method for good: it is never charged again',
      ({ paymentMethods }, { method }) => paymentMethods.revoke(method),
    ),
  ],
});
