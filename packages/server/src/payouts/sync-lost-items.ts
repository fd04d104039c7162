import { recordEvent } from '../events/index.ts';
import type { Tx } from '../platform/db/index.ts';
import type { MerchantTime } from '../tenancy/index.ts';
import { encodeId } from '../tenancy/index.ts';
import { lostChange } from '../transfers/approvals/index.ts';
import type { listDecided } from '../transfers/index.ts';
import { presentItem } from './present.ts';
import { type BatchRow, type ItemRow, updateItem } from './queries.ts';

type Decided = Awaited<ReturnType<typeof listDecided>>[number];

/**
 * Updates succeeded items after a change of their newest transfer: lost, found again, or paid again by another one.
 *
 * @param decided the newest decided transfer by item id
 */
export async function syncLostItems(
  tx: Tx,
  batch: BatchRow,
  { items, decided }: { items: readonly ItemRow[]; decided: ReadonlyMap<string, Decided> },
  time: MerchantTime,
): Promise<void> {
  for (const item of items) {
    const change = lostChange(item, decided.get(item.item_id));
    if (change !== undefined) await changeItem(tx, { batch, item }, change, time);
  }
}

/** Writes the change of an item whose batch is locked, and records its event. */
export async function changeItem(
  tx: Tx,
  { batch, item }: { batch: BatchRow; item: ItemRow },
  change: Parameters<typeof updateItem>[2],
  time: MerchantTime,
): Promise<void> {
  const after = await updateItem(tx, item, change);
  await recordEvent(tx, {
    merchantId: batch.merchant_id,
    storeId: batch.store_id,
    livemode: time.livemode,
    type: 'payout_item.updated',
    resource: encodeId('payoutItem', item.item_id),
    before: presentItem(item),
    after: presentItem(after),
    nowSeconds: time.seconds,
    nowMs: time.realMs,
  });
}
