import { recordEvent } from '../events/index.ts';
import type { Tx } from '../platform/db.ts';
import { encodeId } from '../platform/ids.ts';
import type { Occasion } from '../platform/occasion.ts';
import type { listDecided } from '../transfers/index.ts';
import { presentItem } from './present.ts';
import { type BatchRow, type ItemRow, updateItem } from './queries.ts';

type Decided = Awaited<ReturnType<typeof listDecided>>[number];

/**
 * Items that succeeded follow the newest transfer that paid them: lost with it, found again, or paid anew by another.
 *
 * @param decided by item, the newest transfer that is over
 */
export async function followLost(
  tx: Tx,
  batch: BatchRow,
  { items, decided }: { items: readonly ItemRow[]; decided: ReadonlyMap<string, Decided> },
  occasion: Occasion,
): Promise<void> {
  for (const item of items) {
    const transfer = decided.get(item.item_id);
    // One that failed is a payment anew that did not come off: the item is lost as before.
    if (item.status !== 'succeeded' || transfer?.status !== 'succeeded') continue;
    const lostAt = transfer.lost_at === null ? null : Number(transfer.lost_at);
    const isAsBefore = lostAt === (item.lost_at === null ? null : Number(item.lost_at));
    if (isAsBefore && item.tx_id === transfer.tx_id) continue;
    await changeItem(tx, { batch, item }, { tx_id: transfer.tx_id, lost_at: lostAt }, occasion);
  }
}

/** Writes the change of an item whose batch is locked, together with the news of it. */
export async function changeItem(
  tx: Tx,
  { batch, item }: { batch: BatchRow; item: ItemRow },
  change: Parameters<typeof updateItem>[2],
  occasion: Occasion,
): Promise<void> {
  const after = await updateItem(tx, item, change);
  await recordEvent(tx, {
    merchantId: batch.merchant_id,
    storeId: batch.store_id,
    livemode: occasion.livemode,
    type: 'payout_item.updated',
    resource: encodeId('payoutItem', item.item_id),
    before: presentItem(item),
    after: presentItem(after),
    nowSeconds: occasion.seconds,
    nowMs: occasion.realMs,
  });
}
