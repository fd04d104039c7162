import type { PaymentMethod } from '@florin/sdk';
import { timeOf } from '../merchant.ts';
import { merchant, resource } from '../operations.ts';
import { page, text } from '../parameters.ts';

const NETWORKS: Readonly<Record<number, string>> = { 1: 'erc20', 2: 'trc20', 3: 'spl' };

const summary = (method: PaymentMethod) => ({
  id: method.id,
  status: method.status,
  customer: method.customer,
  currency: method.currency,
  network: NETWORKS[method.chain_type] ?? method.chain_type,
  mandate: method.mandate_id,
  created: timeOf(method.created),
});

export const addPaymentMethods = resource({
  name: 'payment-methods',
  description: "Mandates of customers' wallets, by which invoices are charged",
  examples: ['florin payment-methods list --customer customer-17', 'florin payment-methods revoke pm_01…'],
  operations: [
    merchant('list', 'List the payment methods of the merchant, newest first', {
      examples: [
        'florin payment-methods list --customer customer-17',
        'florin payment-methods list --limit 100 --json',
      ],
      options: {
        customer: text('--customer <id>', 'of this customer, by your own id or ours'),
        ...page('method'),
      },
      call: ({ paymentMethods }, query) => paymentMethods.list(query),
      row: summary,
    }),
    merchant('show <method>', 'Show a payment method', {
      call: ({ paymentMethods }, { method }) => paymentMethods.retrieve(method),
      row: summary,
    }),
    merchant('revoke <method>', 'Charge nothing to it any more, for good', {
      call: ({ paymentMethods }, { method }) => paymentMethods.revoke(method),
      row: summary,
    }),
  ],
});
