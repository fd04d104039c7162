import type { Updateable } from 'kysely';
import { recordEvent } from '../events/index.ts';
import type { Tables, Tx } from '../platform/db.ts';
import { encodeId } from '../platform/ids.ts';
import type { Occasion } from '../platform/occasion.ts';
import { presentBatch } from './present.ts';
import { type BatchRow, updateBatch } from './queries.ts';

/** Writes the change of a locked batch together with the news of it: once in each transaction that changes a batch. */
export async function changeBatch(
  tx: Tx,
  batch: BatchRow,
  change: Updateable<Tables['payout_batch']>,
  occasion: Occasion,
): Promise<BatchRow> {
  const after = await updateBatch(tx, batch, change);
  await recordBatchEvent(tx, { before: batch, after }, occasion);
  return after;
}

/** The news goes to the store whose key made the batch. */
export async function recordBatchEvent(
  tx: Tx,
  { before, after }: { before: BatchRow | null; after: BatchRow },
  occasion: Occasion,
): Promise<void> {
  await recordEvent(tx, {
    merchantId: after.merchant_id,
    storeId: after.store_id,
    livemode: occasion.livemode,
    type: 'payout_batch.updated',
    resource: encodeId('payoutBatch', after.batch_id),
    before: before && presentBatch(before),
    after: presentBatch(after),
    nowSeconds: occasion.seconds,
    nowMs: occasion.realMs,
  });
}
