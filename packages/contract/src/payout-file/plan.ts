import { type Asset, formatAmount, type Network, parseAmount } from '../money.ts';
import type { FileItem, FilePayout } from './read-items.ts';

/** `PAYOUT_ITEMS_MAX` of the contract, whose schemas would take a start of every command longer. */
export const BATCH_ITEMS_MAX = 200;

/** A batch to be created: its items have one currency and one network, and are as many as a batch takes at most. */
export interface PlannedBatch {
  currency: Asset;
  network: Network;
  description: string | undefined;
  items: FileItem[];
}

/** The batches that pay what a file says, in its order within each currency and network. */
export function planBatches({ description, items }: FilePayout): PlannedBatch[] {
  const groups = Map.groupBy(items, ({ currency, input }) => `${currency} ${input.network}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { currency, input } = first;
    const count = Math.ceil(group.length / BATCH_ITEMS_MAX);
    return Array.from({ length: count }, (_, i) => ({
      currency,
      network: input.network,
      description,
      items: group.slice(i * BATCH_ITEMS_MAX, (i + 1) * BATCH_ITEMS_MAX),
    }));
  });
}

export const totalOf = ({ items }: Pick<PlannedBatch, 'items'>): string =>
  formatAmount(items.reduce((sum, { input }) => sum + parseAmount(input.amount), 0n));

/** Places that pay the same as an earlier one: often a mistake, never refused. */
export function repeatsIn(items: readonly FileItem[]): { where: string; earlier: string }[] {
  const seen = new Map<string, string>();
  return items.flatMap(({ where, currency, input: { network, address, amount } }) => {
    const key = JSON.stringify([currency, network, address, parseAmount(amount).toString()]);
    const earlier = seen.get(key);
    if (earlier === undefined) seen.set(key, where);
    return earlier === undefined ? [] : [{ where, earlier }];
  });
}

/** The key of one of several batches of a payout: a repeat of the payout under the same key makes none a second time. */
export async function batchKey(key: string, index: number): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify([key, index]));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
