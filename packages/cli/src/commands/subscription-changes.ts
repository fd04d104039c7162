import { keysOf } from '@florin/contract/tables';
import type { InvoicePreview, Subscription, SubscriptionItemInput } from '@florin/sdk';
import { columnsOf } from '../columns.ts';
import { parseTime, parseWhole } from '../duration.ts';
import { wrongUsage } from '../failure.ts';
import { merchant } from '../operations.ts';
import { choice, flag, parsed, text } from '../options.ts';
import { priceOf, readPrice } from '../prices.ts';
import { subscriptionSummary } from '../subscription-rows.ts';

const previewRow = columnsOf<InvoicePreview>()('due reason=billing_reason period_start period_end', {
  due: ({ amount_due: amount, currency }) => priceOf({ amount, currency }),
});

export const cancel = merchant(subscriptionSummary)(
  'cancel <subscription>',
  'Cancel a subscription, now or later',
  {
    examples: [
      'florin subscriptions cancel sub_01…                  # now',
      'florin subscriptions cancel sub_01… --at-period-end',
      'florin subscriptions cancel sub_01… --at 2027-01-01T00:00:00Z',
    ],
    options: {
      cancel_at_period_end: flag('--at-period-end', 'when what is paid for is over'),
      cancel_at: parsed('--at <time>', 'at this time', parseTime),
    },
    read: (given) => {
      if (given.cancel_at_period_end && given.cancel_at !== undefined)
        throw wrongUsage('--at-period-end and --at are one or the other.');
      return given;
    },
    run: ({ subscriptions }, { subscription, ...when }) => subscriptions.cancel(subscription, when),
  },
);

const changedRow = (one: InvoicePreview | Subscription) =>
  one.object === 'invoice' ? previewRow(one) : subscriptionSummary(one);

interface ItemChange {
  amount: string | undefined;
  quantity: number | undefined;
  product: string | undefined;
}

/** The changed item of a subscription with one item. */
function changedItem({ items }: Subscription, change: ItemChange): SubscriptionItemInput {
  const [item, second] = items;
  if (item === undefined || second !== undefined)
    throw wrongUsage('The subscription has several items: change them through the API.');
  const { currency, product, unit_amount, recurring } = item.price_data;
  const price = change.amount === undefined ? BigInt(unit_amount) : readPrice(change.amount, currency).amount;
  return {
    price_data: {
      currency,
      product: change.product ?? product,
      unit_amount: price,
      recurring: { interval: recurring.interval },
    },
    quantity: change.quantity ?? item.quantity,
    metadata: item.metadata,
  };
}

const PRORATIONS = { now: 'now', 'period-end': 'period_end', none: 'none' } as const;
const PRORATION_NAMES = keysOf(PRORATIONS);

export const update = merchant(changedRow)('update <subscription>', 'Change a subscription of one item', {
  examples: [
    'florin subscriptions update sub_01… --amount 29.99 --proration period-end',
    'florin subscriptions update sub_01… --quantity 5 --preview   # what would be due, and nothing else',
    'florin subscriptions update sub_01… --keep                   # takes a planned end back',
  ],
  options: {
    amount: text('--amount <price>', 'for one, in its currency'),
    quantity: parsed('--quantity <count>', 'so many of it', parseWhole),
    product: text('--product <name>', 'what it is for'),
    payment_method_id: text('--payment-method <id>', 'charged from now on'),
    keep: flag('--keep', 'do not cancel it as planned'),
    proration: choice(
      '--proration <how>',
      'the rest of the period at once, from the next one on, or no sum',
      PRORATION_NAMES,
    ),
    preview: flag('--preview', 'show the invoice that would be opened, else the next one'),
  },
  read: ({ subscription: id, preview, amount, quantity, product, keep, proration, ...rest }) => {
    const isOfItem = [amount, quantity, product].some((one) => one !== undefined);
    if (!isOfItem && rest.payment_method_id === undefined && keep === undefined)
      throw wrongUsage('Name what to change: --amount, --quantity, --product, --payment-method or --keep.');
    const change = {
      ...rest,
      ...(keep === undefined ? {} : { cancel_at: null }),
      ...(proration === undefined ? {} : { proration: PRORATIONS[proration] }),
    };
    return { id, preview, ofItem: isOfItem ? { amount, quantity, product } : undefined, change };
  },
  run: async ({ subscriptions }, { id, preview, ofItem, change: rest }) => {
    const items =
      ofItem === undefined ? {} : { items: [changedItem(await subscriptions.retrieve(id), ofItem)] };
    const change = { ...items, ...rest };
    return await (preview ? subscriptions.previewUpdate(id, change) : subscriptions.update(id, change));
  },
});
