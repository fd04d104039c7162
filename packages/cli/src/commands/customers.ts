import type { Customer, Florin } from '@florin/sdk';
import { CommandFailure, wrongUsage } from '../failure.ts';
import { timeOf } from '../merchant.ts';
import { merchant, resource } from '../operations.ts';
import { page, text } from '../parameters.ts';

const summary = (customer: Customer) => ({
  id: customer.id,
  customer: customer.external_customer_id,
  email: customer.email,
  name: customer.name,
  phone: customer.phone,
  description: customer.description,
  created: timeOf(customer.created),
});

const details = {
  email: text('--email <address>', 'where to write to'),
  name: text('--name <name>', 'of the person or company'),
  phone: text('--phone <number>', 'where to call'),
  description: text('--description <text>', 'for yourself'),
};

/** By the id of ours or the merchant's own. */
async function find({ customers }: Florin, id: string): Promise<Customer> {
  if (id.startsWith('cus_')) return await customers.retrieve(id);
  const [found] = (await customers.list({ external_customer_id: id, limit: 1 }).page()).data;
  if (found === undefined) throw new CommandFailure('resource_not_found', `There is no customer ${id}.`);
  return found;
}

export const addCustomers = resource({
  name: 'customers',
  description: 'Customers, by your own ids of them',
  examples: ['florin customers list', 'florin customers show customer-17'],
  operations: [
    merchant('list', 'List the customers of the merchant, newest first', {
      examples: ['florin customers list', 'florin customers list --limit 100 --json'],
      options: page('customer'),
      call: ({ customers }, query) => customers.list(query),
      row: summary,
    }),
    merchant('show <customer>', 'Show a customer, by the id of ours or by your own', {
      examples: ['florin customers show cus_01…', 'florin customers show customer-17   # your own id'],
      call: (florin, { customer }) => find(florin, customer),
      row: summary,
    }),
    merchant('create <your-id>', 'Create a customer; calls that name a new one make it by themselves', {
      examples: ['florin customers create customer-17 --email ada@shop.example --name "Ada Lovelace"'],
      options: details,
      call: ({ customers }, { your_id, ...given }) =>
        customers.create({ external_customer_id: your_id, ...given }),
      row: summary,
    }),
    merchant('update <customer>', 'Change what is known of a customer', {
      examples: ['florin customers update cus_01… --phone "+44 20 7946 0000"'],
      options: details,
      read: ({ customer, ...change }) => {
        if (Object.keys(change).length === 0) throw wrongUsage('Say what is to change: --email, --name, …');
        return { customer, change };
      },
      call: ({ customers }, { customer, change }) => customers.update(customer, change),
      row: summary,
    }),
  ],
});
