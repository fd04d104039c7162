import { formatAmount } from '@florin/contract/money';
import type { PayoutBatch, PayoutItem, PayoutItemInput } from '@florin/contract/schemas';
import type { Tx } from '../platform/db/index.ts';
import { transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import type { Caller } from '../platform/http/index.ts';
import { withAuthor } from '../stores/approvers/index.ts';
import { type MerchantTime, merchantTime } from '../tenancy/index.ts';
import { changeBatch } from './change-batch.ts';
import { type CheckedItem, checkItems } from './check-items.ts';
import { type PayoutDeps, type PayoutSettings, payoutSettings } from './deps.ts';
import { presentBatch, presentItem } from './present.ts';
import {
  type BatchRow,
  deleteItem,
  getItem,
  type ItemRow,
  lockBatch,
  readItems,
  replaceItem,
  totalColumns,
} from './queries.ts';
import { checkLimits, mayEdit, type Sized, totalsOf } from './states.ts';

const sized = (item: ItemRow): Sized => ({
  amount: item.amount,
  fee: item.service_fee_amount,
  errors: item.validation_errors,
});

/** Locks the batch for an edit. An unknown item is reported before a status that forbids the edit. */
async function lockForEdit(
  tx: Tx,
  caller: Caller,
  { batchId, itemId }: Pick<ItemEdit, 'batchId' | 'itemId'>,
): Promise<{ batch: BatchRow; item: ItemRow }> {
  const batch = await lockBatch(tx, caller.merchantId, batchId);
  const item = await getItem(tx, caller.merchantId, batchId, itemId);
  if (mayEdit(batch.status)) return { batch, item };
  throw new Fail('invalid_request', `The items of a batch with status ${batch.status} cannot be changed.`);
}

/** Recalculates the totals and refuses an edit that violates the batch's limits. */
async function updateTotals(
  tx: Tx,
  batch: BatchRow,
  { caller, settings, time }: { caller: Caller; settings: PayoutSettings; time: MerchantTime },
): Promise<BatchRow> {
  const items = await readItems(tx, batch.merchant_id, batch.batch_id);
  const totals = totalsOf(items.map(sized));
  checkLimits(totals.requested, { ...settings, format: formatAmount });
  return await changeBatch(tx, batch, { ...totalColumns(totals), ...withAuthor(batch, caller) }, time);
}

export interface ItemEdit {
  batchId: string;
  /** The public id. */
  itemId: string;
  input: PayoutItemInput;
}

/**
 * Replaces an item as a whole, in `draft` and `needs_fix`; its index and id stay, and the batch keeps its network.
 *
 * @throws Fail `invalid_request` in other states; `batch_amount_too_low`, `batch_amount_limit_exceeded`
 */
export async function updatePayoutItem(
  deps: PayoutDeps,
  caller: Caller,
  edit: ItemEdit,
): Promise<PayoutItem> {
  const settings = await payoutSettings(deps, caller);
  return await transact(deps.db, async (tx) => {
    const { batch, item } = await lockForEdit(tx, caller, edit);
    const [checked] = await checkItems([{ index: item.index, input: edit.input }], {
      ...deps,
      db: tx,
      merchant: caller,
      currency: batch.currency,
      network: batch.network,
      rules: settings,
      stage: 'creation',
    });
    // Before the write: a sum above the limits may not fit the column either.
    checkLimits(requestedWith(batch, item, checked), { ...settings, format: formatAmount });
    if (checked !== undefined) await replaceItem(tx, batch, checked);
    await updateTotals(tx, batch, { caller, settings, time: merchantTime(deps, caller) });
    return presentItem(await getItem(tx, caller.merchantId, edit.batchId, edit.itemId));
  });
}

function requestedWith(batch: BatchRow, item: ItemRow, checked: CheckedItem | undefined): bigint {
  return batch.requested_amount - item.amount + (checked?.amount ?? 0n);
}

/** @throws Fail `batch_empty_items` for the last item; `invalid_request` in other states */
export async function deletePayoutItem(
  deps: PayoutDeps,
  caller: Caller,
  target: Pick<ItemEdit, 'batchId' | 'itemId'>,
): Promise<PayoutBatch> {
  const settings = await payoutSettings(deps, caller);
  return await transact(deps.db, async (tx) => {
    const { batch, item } = await lockForEdit(tx, caller, target);
    if (batch.total_count === 1) {
      throw new Fail('batch_empty_items', 'This is the last item of the batch. Cancel the batch instead.');
    }
    await deleteItem(tx, item);
    return presentBatch(
      await updateTotals(tx, batch, { caller, settings, time: merchantTime(deps, caller) }),
    );
  });
}
