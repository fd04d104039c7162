import type { Updateable } from 'kysely';
import { recordEvent } from '../events/index.ts';
import type { Tables, Tx } from '../platform/db/index.ts';
import type { MerchantTime } from '../tenancy/index.ts';
import { encodeId } from '../tenancy/index.ts';
import { presentBatch } from './present.ts';
import { type BatchRow, updateBatch } from './queries.ts';

/** Writes the change of a locked batch and records its event: once in each transaction that changes a batch. */
export async function changeBatch(
  tx: Tx,
  batch: BatchRow,
  change: Updateable<Tables['payout_batch']>,
  time: MerchantTime,
): Promise<BatchRow> {
  const after = await updateBatch(tx, batch, change);
  await recordBatchEvent(tx, { before: batch, after }, time);
  return after;
}

/** Records an event of the batch for the store whose key created it. */
export async function recordBatchEvent(
  tx: Tx,
  { before, after }: { before: BatchRow | null; after: BatchRow },
  time: MerchantTime,
): Promise<void> {
  await recordEvent(tx, {
    merchantId: after.merchant_id,
    storeId: after.store_id,
    livemode: time.livemode,
    type: 'payout_batch.updated',
    resource: encodeId('payoutBatch', after.batch_id),
    before: before && presentBatch(before),
    after: presentBatch(after),
    nowSeconds: time.seconds,
    nowMs: time.realMs,
  });
}
