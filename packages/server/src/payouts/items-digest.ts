import { createHash, timingSafeEqual } from 'node:crypto';
import { invariant } from '../platform/fail.ts';
import type { BatchRow, ItemRow } from './queries.ts';

/** SHA-256 over recipients, amounts, fees and memos in the order of the batch: approvals and sends are bound to it. */
export function itemsDigest(batch: BatchRow, items: readonly ItemRow[]): Buffer {
  const lines = items.map((i) =>
    JSON.stringify([
      i.index,
      i.item_id,
      i.network,
      i.address,
      String(i.amount),
      String(i.service_fee_amount),
      i.memo,
    ]),
  );
  return createHash('sha256')
    .update([batch.batch_id, batch.currency, ...lines].join('\n'))
    .digest();
}

/** The digest of the items. @throws where they differ from the submitted ones: such items are neither approved nor sent */
export function boundDigest(batch: BatchRow, items: readonly ItemRow[]): Buffer {
  const now = itemsDigest(batch, items);
  const submitted = batch.items_digest;
  invariant(submitted !== null && timingSafeEqual(now, submitted), 'the items are those that were submitted');
  return now;
}
