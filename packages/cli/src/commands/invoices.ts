import type { Invoice } from '@florin/sdk';
import { type Command, Option } from 'commander';
import { parseWhole } from '../duration.ts';
import { examples } from '../examples.ts';
import { florinOf, type MerchantFlags, merchantCommand, timeOf, timeOrNone } from '../merchant.ts';
import { priceOf } from '../prices.ts';
import { show } from '../show.ts';

const LIST_LIMIT = 20;
const STATUSES = ['open', 'paid', 'void'] as const;

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

interface ListFlags extends MerchantFlags {
  customer?: string;
  subscription?: string;
  status?: (typeof STATUSES)[number];
  limit: number;
  after?: string;
}

function addList(group: Command): void {
  const lines = [
    'florin invoices list --status open',
    'florin invoices list --subscription sub_01… --limit 100 --json',
    'florin invoices list --customer customer-17',
  ];
  merchantCommand(group, 'list', lines)
    .description('List the invoices of the store, newest first')
    .option('--customer <id>', 'of this customer, by your own id or ours')
    .option('--subscription <id>', 'of this subscription')
    .addOption(new Option('--status <status>', 'in this status').choices(STATUSES))
    .option('--limit <count>', 'at most so many, up to 100', parseWhole, LIST_LIMIT)
    .option('--after <invoice>', 'those behind this one')
    .action(async (flags: ListFlags, command: Command) => {
      const { customer, subscription, status, limit, after } = flags;
      const filters = { customer, subscription, status, starting_after: after };
      const given = Object.entries(filters).filter(([, value]) => value !== undefined);
      const { data } = await florinOf(flags)
        .invoices.list({ limit, ...Object.fromEntries(given) })
        .page();
      show(command, data, listed);
    });
}

export function addInvoices(program: Command): void {
  const group = program.command('invoices').description('What subscriptions ask for, period by period');
  examples(group, ['florin invoices list --status open', 'florin invoices pay in_01…']);
  addList(group);
  merchantCommand(group, 'show <invoice>', ['florin invoices show in_01…'])
    .description('Show an invoice')
    .action(async (id: string, flags: MerchantFlags, command: Command) => {
      show(command, await florinOf(flags).invoices.retrieve(id), summary);
    });
  merchantCommand(group, 'pay <invoice>', ['florin invoices pay in_01…'])
    .description('Charge the payment method of its subscription now')
    .action(async (id: string, flags: MerchantFlags, command: Command) => {
      show(command, await florinOf(flags).invoices.pay(id), summary);
    });
}
