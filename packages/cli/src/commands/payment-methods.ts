import type { PaymentMethod } from '@florin/sdk';
import type { Command } from 'commander';
import { parseWhole } from '../duration.ts';
import { examples } from '../examples.ts';
import { florinOf, type MerchantFlags, merchantCommand, timeOf } from '../merchant.ts';
import { show } from '../show.ts';

const LIST_LIMIT = 20;
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

interface ListFlags extends MerchantFlags {
  customer?: string;
  limit: number;
  after?: string;
}

function addList(group: Command): void {
  const lines = [
    'florin payment-methods list --customer customer-17',
    'florin payment-methods list --limit 100 --json',
  ];
  merchantCommand(group, 'list', lines)
    .description('List the payment methods of the merchant, newest first')
    .option('--customer <id>', 'of this customer, by your own id or ours')
    .option('--limit <count>', 'at most so many, up to 100', parseWhole, LIST_LIMIT)
    .option('--after <method>', 'those behind this one')
    .action(async (flags: ListFlags, command: Command) => {
      const { customer, limit, after } = flags;
      const query = {
        limit,
        ...(customer === undefined ? {} : { customer }),
        ...(after === undefined ? {} : { starting_after: after }),
      };
      const { data } = await florinOf(flags).paymentMethods.list(query).page();
      show(command, data, summary);
    });
}

export function addPaymentMethods(program: Command): void {
  const group = program
    .command('payment-methods')
    .description("Mandates of customers' wallets, by which invoices are charged");
  examples(group, [
    'florin payment-methods list --customer customer-17',
    'florin payment-methods revoke pm_01…',
  ]);
  addList(group);
  merchantCommand(group, 'show <method>', ['florin payment-methods show pm_01…'])
    .description('Show a payment method')
    .action(async (id: string, flags: MerchantFlags, command: Command) => {
      show(command, await florinOf(flags).paymentMethods.retrieve(id), summary);
    });
  merchantCommand(group, 'revoke <method>', ['florin payment-methods revoke pm_01…'])
    .description('Charge nothing to it any more, for good')
    .action(async (id: string, flags: MerchantFlags, command: Command) => {
      show(command, await florinOf(flags).paymentMethods.revoke(id), summary);
    });
}
