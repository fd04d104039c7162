import type {
  InvoicePreview,
  Subscription,
  SubscriptionCancelInput,
  SubscriptionItemInput,
  SubscriptionUpdateInput,
} from '@florin/sdk';
import { type Command, Option } from 'commander';
import { parseTime, parseWhole } from '../duration.ts';
import { wrongUsage } from '../failure.ts';
import { florinOf, type MerchantFlags, merchantCommand, timeOf } from '../merchant.ts';
import { priceOf, readPrice } from '../prices.ts';
import { show } from '../show.ts';
import { subscriptionSummary } from '../subscription-rows.ts';

const PRORATIONS = { now: 'now', 'period-end': 'period_end', none: 'none' } as const;

const previewRow = (invoice: InvoicePreview) => ({
  due: priceOf({ amount: invoice.amount_due, currency: invoice.currency }),
  reason: invoice.billing_reason,
  period_start: timeOf(invoice.period_start),
  period_end: timeOf(invoice.period_end),
});

interface CancelFlags extends MerchantFlags {
  atPeriodEnd?: true;
  at?: number;
}

function whenOf({ atPeriodEnd, at }: CancelFlags): SubscriptionCancelInput {
  if (atPeriodEnd && at !== undefined) throw wrongUsage('--at-period-end and --at are one or the other.');
  if (at !== undefined) return { cancel_at: at };
  return atPeriodEnd ? { cancel_at_period_end: true } : {};
}

export function addCancel(group: Command): void {
  const lines = [
    'florin subscriptions cancel sub_01…                  # now',
    'florin subscriptions cancel sub_01… --at-period-end',
    'florin subscriptions cancel sub_01… --at 2027-01-01T00:00:00Z',
  ];
  merchantCommand(group, 'cancel <subscription>', lines)
    .description('Cancel a subscription, now or later')
    .option('--at-period-end', 'when what is paid for is over')
    .option('--at <time>', 'at this time', parseTime)
    .action(async (id: string, flags: CancelFlags, command: Command) => {
      show(command, await florinOf(flags).subscriptions.cancel(id, whenOf(flags)), subscriptionSummary);
    });
}

interface UpdateFlags extends MerchantFlags {
  amount?: string;
  quantity?: number;
  product?: string;
  paymentMethod?: string;
  keep?: true;
  proration?: keyof typeof PRORATIONS;
  preview?: true;
}

/** The one item of the subscription with what the flags change of it. */
function changedItem({ items }: Subscription, flags: UpdateFlags): SubscriptionItemInput {
  const [item, second] = items;
  if (item === undefined || second !== undefined)
    throw wrongUsage('It has several items: change them by the API, which takes all of them.');
  const { currency, product, unit_amount, recurring } = item.price_data;
  const price = flags.amount === undefined ? BigInt(unit_amount) : readPrice(flags.amount, currency).amount;
  return {
    price_data: {
      currency,
      product: flags.product ?? product,
      unit_amount: price,
      recurring: { interval: recurring.interval },
    },
    quantity: flags.quantity ?? item.quantity,
    metadata: item.metadata,
  };
}

async function changeOf(id: string, flags: UpdateFlags): Promise<SubscriptionUpdateInput> {
  const { amount, quantity, product, paymentMethod, keep, proration } = flags;
  const isOfItem = [amount, quantity, product].some((flag) => flag !== undefined);
  if (!isOfItem && paymentMethod === undefined && keep === undefined)
    throw wrongUsage('Say what is to change: --amount, --quantity, --product, --payment-method or --keep.');
  const items = isOfItem ? [changedItem(await florinOf(flags).subscriptions.retrieve(id), flags)] : undefined;
  return {
    ...(items === undefined ? {} : { items }),
    ...(paymentMethod === undefined ? {} : { payment_method_id: paymentMethod }),
    ...(keep === undefined ? {} : { cancel_at: null }),
    ...(proration === undefined ? {} : { proration: PRORATIONS[proration] }),
  };
}

export function addUpdate(group: Command): void {
  const lines = [
    'florin subscriptions update sub_01… --amount 29.99 --proration period-end',
    'florin subscriptions update sub_01… --quantity 5 --preview   # what would be due, and nothing else',
    'florin subscriptions update sub_01… --keep                   # takes a planned end back',
  ];
  merchantCommand(group, 'update <subscription>', lines)
    .description('Change a subscription of one item')
    .option('--amount <price>', 'for one, in its currency')
    .option('--quantity <count>', 'so many of it', parseWhole)
    .option('--product <name>', 'what it is for')
    .option('--payment-method <id>', 'charged from now on')
    .option('--keep', 'do not cancel it as planned')
    .addOption(
      new Option(
        '--proration <how>',
        'the rest of the period at once, from the next one on, or no sum',
      ).choices(Object.keys(PRORATIONS)),
    )
    .option('--preview', 'show the invoice that would be opened, else the next one')
    .action(async (id: string, flags: UpdateFlags, command: Command) => {
      const { subscriptions } = florinOf(flags);
      const change = await changeOf(id, flags);
      if (flags.preview) show(command, await subscriptions.previewUpdate(id, change), previewRow);
      else show(command, await subscriptions.update(id, change), subscriptionSummary);
    });
}
