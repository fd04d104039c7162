import type { SubscriptionInput, SubscriptionItemInput } from '@florin/contract/schemas';
import { newId } from '../platform/db/ids/index.ts';
import { invalidParam } from '../platform/fail.ts';
import { sumOf } from './rows.ts';
import type { StoredItem } from './tables.ts';

const SUM_MAX = 2n ** 53n - 1n;

type Pace = Pick<SubscriptionInput['items'][number]['price_data'], 'currency'> & {
  interval: SubscriptionItemInput['price_data']['recurring']['interval'];
};

/**
 * The items in their stored form; all must have one currency and one interval.
 *
 * @throws Fail `invalid_request` with the item's path
 */
export function checkItems(
  items: readonly SubscriptionItemInput[],
  { currency, interval }: Pace,
): { items: StoredItem[]; amount: bigint } {
  for (const [i, { price_data: price }] of items.entries()) {
    const path = `items[${i}].price_data`;
    if (price.currency !== currency)
      throw invalidParam(`${path}.currency`, `Every item has the currency of the subscription, ${currency}.`);
    if (price.recurring.interval !== interval)
      throw invalidParam(
        `${path}.recurring.interval`,
        `All items are billed at one interval, each ${interval}.`,
      );
  }
  const stored = items.map(({ price_data: price, quantity = 1, metadata = {} }) => ({
    id: newId(),
    product: price.product,
    unit_amount: String(price.unit_amount),
    quantity,
    metadata,
  }));
  const amount = sumOf(stored);
  if (amount > SUM_MAX) throw invalidParam('items', 'The items add up to more than a subscription can bill.');
  return { items: stored, amount };
}

/** Whether the items are equal except for their ids. */
export function isSameItems(a: readonly StoredItem[], b: readonly StoredItem[]): boolean {
  const words = (items: readonly StoredItem[]) =>
    items.map(({ product, unit_amount, quantity, metadata }) => [
      product,
      unit_amount,
      quantity,
      Object.entries(metadata).sort(([x], [y]) => (x < y ? -1 : 1)),
    ]);
  return JSON.stringify(words(a)) === JSON.stringify(words(b));
}
