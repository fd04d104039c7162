import { createHash, timingSafeEqual } from 'node:crypto';
import { invariant } from '../platform/fail.ts';
import type { BatchRow, ItemRow } from './queries.ts';

/** What approvers and senders bind to: SHA-256 over recipients, amounts, fees and memos in the order of the batch. */
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

/** The digest of items that are still those which were submitted; others are neither approved nor sent. */
export function boundDigest(batch: BatchRow, items: readonly ItemRow[]): Buffer {
  const now = itemsDigest(batch, items);
  const submitted = batch.items_digest;
  invariant(submitted !== null && timingSafeEqual(now, submitted), 'the items are those that were submitted');
  return now;
}
