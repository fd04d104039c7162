import type { Customer, Florin } from '@florin/sdk';
import { columnsOf } from '../columns.ts';
import { CommandFailure, wrongUsage } from '../failure.ts';
import { merchant } from '../operations.ts';
import { sortedPage, text } from '../options.ts';
import { resource } from '../resource.ts';

const summary = columnsOf<Customer>()(
  'id customer=external_customer_id email name phone description created',
);

const details = {
  email: text('--email <address>', 'where to write to'),
  name: text('--name <name>', 'of the person or company'),
  phone: text('--phone <number>', 'where to call'),
  description: text('--description <text>', 'for yourself'),
};

/** By our id or the merchant's own. */
async function find({ customers }: Florin, id: string): Promise<Customer> {
  if (id.startsWith('cus_')) return await customers.retrieve(id);
  const [found] = (await customers.list({ external_customer_id: id, limit: 1 }).page()).data;
  if (found === undefined) throw new CommandFailure('resource_not_found', `There is no customer ${id}.`);
  return found;
}

const operation = merchant(summary);

export const addCustomers = resource({
  name: 'customers',
  description: 'Customers, by your own ids of them',
  examples: ['florin customers list', 'florin customers show customer-17'],
  operations: [
    operation('list', 'List the customers of the merchant, newest first', {
      examples: ['florin customers list', 'florin customers list --email ada@shop.example --json'],
      options: { email: text('--email <address>', 'with this e-mail address'), ...sortedPage('customer') },
      run: ({ customers }, query) => customers.list(query),
    }),
    operation('show <customer>', 'Show a customer, by our id or your own', {
      examples: ['florin customers show cus_01…', 'florin customers show customer-17   # your own id'],
      run: (florin, { customer }) => find(florin, customer),
    }),
    operation('create <your-id>', 'Create a customer; calls that name a new one create it, too', {
      examples: ['florin customers create customer-17 --email ada@shop.example --name "Ada Lovelace"'],
      options: details,
      run: ({ customers }, { your_id, ...given }) =>
        customers.create({ external_customer_id: your_id, ...given }),
    }),
    operation('update <customer>', 'Change the details of a customer', {
      examples: ['florin customers update cus_01… --phone "+44 20 7946 0000"'],
      options: details,
      read: ({ customer, ...change }) => {
        if (Object.keys(change).length === 0) throw wrongUsage('Name what to change: --email, --name, …');
        return { customer, change };
      },
      run: ({ customers }, { customer, change }) => customers.update(customer, change),
    }),
  ],
});
