import type { Customer, CustomerChange } from '@florin/sdk';
import type { Command } from 'commander';
import { parseWhole } from '../duration.ts';
import { examples } from '../examples.ts';
import { CommandFailure, wrongUsage } from '../failure.ts';
import { florinOf, type MerchantFlags, merchantCommand, timeOf } from '../merchant.ts';
import { show } from '../show.ts';

const LIST_LIMIT = 20;

type DetailFlags = MerchantFlags & CustomerChange;

const summary = (customer: Customer) => ({
  id: customer.id,
  customer: customer.external_customer_id,
  email: customer.email,
  name: customer.name,
  phone: customer.phone,
  description: customer.description,
  created: timeOf(customer.created),
});

const detailsOf = ({ email, name, phone, description }: DetailFlags): CustomerChange => ({
  ...(email === undefined ? {} : { email }),
  ...(name === undefined ? {} : { name }),
  ...(phone === undefined ? {} : { phone }),
  ...(description === undefined ? {} : { description }),
});

function withDetails(command: Command): Command {
  return command
    .option('--email <address>', 'where to write to')
    .option('--name <name>', 'of the person or company')
    .option('--phone <number>', 'where to call')
    .option('--description <text>', 'for yourself');
}

function addList(group: Command): void {
  merchantCommand(group, 'list', ['florin customers list', 'florin customers list --limit 100 --json'])
    .description('List the customers of the merchant, newest first')
    .option('--limit <count>', 'at most so many, up to 100', parseWhole, LIST_LIMIT)
    .option('--after <customer>', 'those behind this one')
    .action(async (flags: MerchantFlags & { limit: number; after?: string }, command: Command) => {
      const after = flags.after === undefined ? {} : { starting_after: flags.after };
      const { data } = await florinOf(flags)
        .customers.list({ limit: flags.limit, ...after })
        .page();
      show(command, data, summary);
    });
}

function addShow(group: Command): void {
  const lines = ['florin customers show cus_01…', 'florin customers show customer-17   # your own id'];
  merchantCommand(group, 'show <customer>', lines)
    .description('Show a customer, by the id of ours or by your own')
    .action(async (id: string, flags: MerchantFlags, command: Command) => {
      const { customers } = florinOf(flags);
      if (id.startsWith('cus_')) return show(command, await customers.retrieve(id), summary);
      const [found] = (await customers.list({ external_customer_id: id, limit: 1 }).page()).data;
      if (found === undefined) throw new CommandFailure('resource_not_found', `There is no customer ${id}.`);
      show(command, found, summary);
    });
}

export function addCustomers(program: Command): void {
  const group = program.command('customers').description('Customers, by your own ids of them');
  examples(group, ['florin customers list', 'florin customers show customer-17']);
  addList(group);
  addShow(group);
  const createLines = ['florin customers create customer-17 --email ada@shop.example --name "Ada Lovelace"'];
  withDetails(merchantCommand(group, 'create <your-id>', createLines))
    .description('Create a customer; calls that name a new one make it by themselves')
    .action(async (id: string, flags: DetailFlags, command: Command) => {
      const input = { external_customer_id: id, ...detailsOf(flags) };
      show(command, await florinOf(flags).customers.create(input), summary);
    });
  withDetails(
    merchantCommand(group, 'update <customer>', [
      'florin customers update cus_01… --phone "+44 20 7946 0000"',
    ]),
  )
    .description('Change what is known of a customer')
    .action(async (id: string, flags: DetailFlags, command: Command) => {
      const change = detailsOf(flags);
      if (Object.keys(change).length === 0) throw wrongUsage('Say what is to change: --email, --name, …');
      show(command, await florinOf(flags).customers.update(id, change), summary);
    });
}
