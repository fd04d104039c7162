import { parseAmount } from '@florin/contract/money';
import { batchKey, type FileItem, type PlannedBatch } from '@florin/contract/payout-file';
import type { PayoutBatch, PayoutItem } from '@florin/contract/schemas';
import { call, change, type Place, pathWith } from '../../api.ts';
import { allItems, PAYOUT_BATCHES } from '../payout-items.tsx';

/** Under the reference other people are paid already. */
export class ReferenceTaken extends Error {}

export interface Drafts {
  batches: PayoutBatch[];
  /** How many of them somebody had made before. */
  earlier: number;
}

interface Keyed {
  batch: PlannedBatch;
  key: string;
  earlier: PayoutBatch | undefined;
}

const paysSame = ({ input }: FileItem, item: PayoutItem): boolean =>
  input.address === item.address &&
  parseAmount(input.amount) === parseAmount(item.amount) &&
  (input.real_name ?? null) === item.real_name &&
  (input.memo ?? null) === item.memo;

/**
 * Whether a batch that is there pays what the rows say, recipient by recipient: rows may have been changed since, and anybody
 * of the merchant can make a batch under this key.
 */
async function isSame(planned: PlannedBatch, there: PayoutBatch, place: Place): Promise<boolean> {
  if (planned.currency !== there.currency || planned.network !== there.network) return false;
  const items = await allItems(there, place);
  return (
    items.length === planned.items.length &&
    planned.items.every((row, index) => {
      const item = items[index];
      return item !== undefined && paysSame(row, item);
    })
  );
}

/**
 * Makes a draft for each planned batch; those that are there under the reference are taken as they are, so that this may be
 * done again after it was cut off.
 *
 * @throws ReferenceTaken before anything is made; ApiError
 */
export async function makeDrafts(
  planned: readonly PlannedBatch[],
  reference: string,
  { place, progress }: { place: Place; progress: (made: number) => void },
): Promise<Drafts> {
  const keyed: Keyed[] = [];
  for (const [index, batch] of planned.entries()) {
    const key = await batchKey(reference, index);
    keyed.push({ batch, key, earlier: await batchWith(key, place) });
  }
  for (const { batch, earlier } of keyed)
    if (earlier !== undefined && !(await isSame(batch, earlier, place)))
      throw new ReferenceTaken(
        `Batch ${earlier.batch_id} (${earlier.status.replaceAll('_', ' ')}) was made under this reference with other rows. Look at it, and give another reference only where nobody is paid twice by it.`,
      );
  const batches: PayoutBatch[] = [];
  for (const { batch, key, earlier } of keyed) {
    batches.push(earlier ?? (await create(batch, { reference, key, place })));
    progress(batches.length);
  }
  return { batches, earlier: keyed.filter(({ earlier }) => earlier !== undefined).length };
}

async function batchWith(key: string, place: Place): Promise<PayoutBatch | undefined> {
  const path = pathWith(PAYOUT_BATCHES, { idempotency_key: key, limit: 1 });
  return (await call<{ data: PayoutBatch[] }>(path, { place })).data[0];
}

const create = (
  { currency, items }: PlannedBatch,
  { reference, key, place }: { reference: string; key: string; place: Place },
): Promise<PayoutBatch> =>
  change<PayoutBatch>(PAYOUT_BATCHES, {
    place,
    idempotencyKey: key,
    body: { currency, description: reference, items: items.map(({ input }) => input) },
  });
