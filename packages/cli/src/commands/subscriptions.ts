import type { SubscriptionInput, SubscriptionItemInput } from '@florin/sdk';
import { type Command, Option } from 'commander';
import { parseWhole } from '../duration.ts';
import { examples } from '../examples.ts';
import { florinOf, type MerchantFlags, merchantCommand } from '../merchant.ts';
import { readPrice } from '../prices.ts';
import { show } from '../show.ts';
import { listedSubscription, subscriptionSummary } from '../subscription-rows.ts';
import { addCancel, addUpdate } from './subscription-changes.ts';

const LIST_LIMIT = 20;
const STATUSES = ['incomplete', 'trialing', 'active', 'past_due', 'canceled', 'incomplete_expired'] as const;
const INTERVALS = ['day', 'week', 'month', 'year'] as const;

interface ListFlags extends MerchantFlags {
  customer?: string;
  status?: (typeof STATUSES)[number];
  limit: number;
}

function addList(group: Command): void {
  const lines = [
    'florin subscriptions list',
    'florin subscriptions list --status past_due --limit 100 --json',
    'florin subscriptions list --customer customer-17',
  ];
  merchantCommand(group, 'list', lines)
    .description('List the subscriptions of the store, newest first')
    .option('--customer <id>', 'of this customer, by your own id')
    .addOption(new Option('--status <status>', 'in this status').choices(STATUSES))
    .option('--limit <count>', 'at most so many, up to 100', parseWhole, LIST_LIMIT)
    .action(async (flags: ListFlags, command: Command) => {
      const { customer, status, limit } = flags;
      const query = {
        limit,
        ...(customer === undefined ? {} : { customer }),
        ...(status === undefined ? {} : { status }),
      };
      const { data } = await florinOf(flags).subscriptions.list(query);
      show(command, data, listedSubscription);
    });
}

interface CreateFlags extends MerchantFlags {
  customer: string;
  every: (typeof INTERVALS)[number];
  product: string;
  quantity?: number;
  description?: string;
  trialDays?: number;
  paymentMethod?: string;
  email?: string;
  successUrl?: string;
  cancelUrl?: string;
  idempotencyKey?: string;
}

function inputOf(price: string, code: string, flags: CreateFlags): SubscriptionInput {
  const { amount, currency } = readPrice(price, code);
  const recurring = { interval: flags.every };
  const item: SubscriptionItemInput = {
    price_data: { currency, product: flags.product, unit_amount: amount, recurring },
    ...(flags.quantity === undefined ? {} : { quantity: flags.quantity }),
  };
  const fields = {
    description: flags.description,
    trial_period_days: flags.trialDays,
    payment_method_id: flags.paymentMethod,
    customer_email: flags.email,
    success_url: flags.successUrl,
    cancel_url: flags.cancelUrl,
  };
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return { customer: flags.customer, currency, items: [item], ...Object.fromEntries(given) };
}

function addCreate(group: Command): void {
  const lines = [
    'florin subscriptions create 19.99 USD --customer customer-17 --every month --product "Gold"',
    'florin subscriptions create 12.50 USDT --customer customer-17 --every week --product box --trial-days 14 --json',
  ];
  merchantCommand(group, 'create <amount> <currency>', lines)
    .description('Create a subscription; its checkout_url is the page for the customer')
    .requiredOption('--customer <id>', 'your own id of the customer; made if it is new')
    .addOption(
      new Option('--every <interval>', 'how often it is paid').choices(INTERVALS).makeOptionMandatory(),
    )
    .requiredOption('--product <name>', 'what it is for, shown to the customer')
    .option('--quantity <count>', 'so many of it', parseWhole)
    .option('--description <text>', 'shown to the customer')
    .option('--trial-days <days>', 'before the first period', parseWhole)
    .option('--payment-method <id>', 'charged at once')
    .option('--email <address>', "the customer's")
    .option('--success-url <url>', 'where the customer may go after paying')
    .option('--cancel-url <url>', 'where the customer may go without paying')
    .option('--idempotency-key <key>', 'makes one subscription of repeats')
    .action(async (amount: string, currency: string, flags: CreateFlags, command: Command) => {
      const { idempotencyKey } = flags;
      const options = idempotencyKey === undefined ? {} : { idempotencyKey };
      const input = inputOf(amount, currency, flags);
      show(command, await florinOf(flags).subscriptions.create(input, options), subscriptionSummary);
    });
}

export function addSubscriptions(program: Command): void {
  const group = program.command('subscriptions').description('What customers pay again and again');
  examples(group, [
    'florin subscriptions create 19.99 USD --customer customer-17 --every month --product "Gold"',
    'florin subscriptions list --status past_due',
  ]);
  addList(group);
  merchantCommand(group, 'show <subscription>', ['florin subscriptions show sub_01…'])
    .description('Show a subscription')
    .action(async (id: string, flags: MerchantFlags, command: Command) => {
      show(command, await florinOf(flags).subscriptions.retrieve(id), subscriptionSummary);
    });
  addCreate(group);
  addCancel(group);
  addUpdate(group);
}
