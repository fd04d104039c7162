import type { Invoice } from '@florin/sdk';
import { timeOf, timeOrNone } from '../merchant.ts';
import { merchant, resource } from '../operations.ts';
import { choice, page, text } from '../parameters.ts';
import { priceOf } from '../prices.ts';

const listed = (invoice: Invoice) => ({
  id: invoice.id,
  status: invoice.status,
  payment_status: invoice.payment_status,
  due: priceOf({ amount: invoice.amount_due, currency: invoice.currency }),
  reason: invoice.billing_reason,
  subscription: invoice.subscription_id,
  period_start: timeOf(invoice.period_start),
  period_end: timeOf(invoice.period_end),
});

const summary = (invoice: Invoice) => ({
  ...listed(invoice),
  customer: invoice.customer,
  payment: invoice.payment_id,
  due_date: timeOrNone(invoice.due_date),
  paid: timeOrNone(invoice.paid_at),
  created: timeOf(invoice.created),
});

export const addInvoices = resource({
  name: 'invoices',
  description: 'What subscriptions ask for, period by period',
  examples: ['florin invoices list --status open', 'florin invoices pay in_01…'],
  operations: [
    merchant('list', 'List the invoices of the store, newest first', {
      examples: [
        'florin invoices list --status open',
        'florin invoices list --subscription sub_01… --limit 100 --json',
        'florin invoices list --customer customer-17',
      ],
      options: {
        customer: text('--customer <id>', 'of this customer, by your own id or ours'),
        subscription: text('--subscription <id>', 'of this subscription'),
        status: choice('--status <status>', 'in this status', ['open', 'paid', 'void']),
        ...page('invoice'),
      },
      call: ({ invoices }, query) => invoices.list(query),
      row: listed,
    }),
    merchant('show <invoice>', 'Show an invoice', {
      call: ({ invoices }, { invoice }) => invoices.retrieve(invoice),
      row: summary,
    }),
    merchant('pay <invoice>', 'Charge the payment method of its subscription now', {
      call: ({ invoices }, { invoice }) => invoices.pay(invoice),
      row: summary,
    }),
  ],
});
