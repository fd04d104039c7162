import type { Invoice } from '@florin/sdk';
import { columnsOf } from '../columns.ts';
import { merchant } from '../operations.ts';
import { choice, made, madeBetween, sortedPage, text } from '../options.ts';
import { priceOf } from '../prices.ts';
import { resource } from '../resource.ts';

const due = ({ amount_due: amount, currency }: Invoice) => priceOf({ amount, currency });

const listed = columnsOf<Invoice>()(
  'id status payment_status due reason=billing_reason subscription=subscription_id period_start period_end',
  { due },
);

const more = columnsOf<Invoice>()('customer payment=payment_id due_date paid=paid_at created');

const summary = (invoice: Invoice) => ({ ...listed(invoice), ...more(invoice) });
const operation = merchant(summary);

export const addInvoices = resource({
  name: 'invoices',
  description: 'Invoices of subscriptions, one per period',
  examples: ['florin invoices list --status open', 'florin invoices pay in_01…'],
  operations: [
    operation('list', 'List the invoices of the store, newest first', {
      examples: [
        'florin invoices list --status open',
        'florin invoices list --subscription sub_01… --limit 100 --json',
        'florin invoices list --customer customer-17',
      ],
      options: {
        customer: text('--customer <id>', 'of this customer, by your own id or ours'),
        subscription: text('--subscription <id>', 'of this subscription'),
        status: choice('--status <status>', 'in this status', ['open', 'paid', 'void']),
        ...made,
        ...sortedPage('invoice'),
      },
      run: ({ invoices }, line) => invoices.list(madeBetween(line)),
      row: listed,
    }),
    operation('show <invoice>', 'Show an invoice', ({ invoices }, { invoice }) => invoices.retrieve(invoice)),
    operation(
      'pay <invoice>',
      'Charge the payment method of its subscription now',
      ({ invoices }, { invoice }) => invoices.pay(invoice),
    ),
  ],
});
