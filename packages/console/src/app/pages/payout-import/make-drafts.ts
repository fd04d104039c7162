import { batchKey, type PlannedBatch } from '@florin/contract/payout-file';
import type { PayoutBatch } from '@florin/contract/schemas';
import { call, change, type Place, pathWith } from '../../api.ts';
import { PAYOUT_BATCHES } from '../payout-items.tsx';

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

const isSame = (a: PlannedBatch, b: PayoutBatch) =>
  a.currency === b.currency && a.network === b.network && a.items.length === b.total_count;

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
  const other = keyed.find(({ batch, earlier }) => earlier !== undefined && !isSame(batch, earlier));
  if (other?.earlier !== undefined)
    throw new ReferenceTaken(
      `Batch ${other.earlier.batch_id} (${other.earlier.status.replaceAll('_', ' ')}) was made under this reference with other rows. Look at it, and give another reference only where nobody is paid twice by it.`,
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
