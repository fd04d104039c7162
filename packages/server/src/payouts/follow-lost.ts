import { recordEvent } from '../events/index.ts';
import type { Tx } from '../platform/db/index.ts';
import type { MerchantTime } from '../tenancy/index.ts';
import { encodeId } from '../tenancy/index.ts';
import { followLost, type listDecided } from '../transfers/index.ts';
import { presentItem } from './present.ts';
import { type BatchRow, type ItemRow, updateItem } from './queries.ts';

type Decided = Awaited<ReturnType<typeof listDecided>>[number];

/**
 * Items that succeeded follow the newest transfer that paid them: lost with it, found again, or paid anew by another.
 *
 * @param decided by item, the newest transfer that is over
 */
export async function followLostItems(
  tx: Tx,
  batch: BatchRow,
  { items, decided }: { items: readonly ItemRow[]; decided: ReadonlyMap<string, Decided> },
  time: MerchantTime,
): Promise<void> {
  for (const item of items) {
    const change = followLost(item, decided.get(item.item_id));
    if (change !== undefined) await changeItem(tx, { batch, item }, change, time);
  }
}

/** Writes the change of an item whose batch is locked, together with the news of it. */
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
