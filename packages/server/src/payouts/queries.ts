import { type Asset, formatAmount } from '@florin/contract/money';
import type { PayoutBatchStatus, PayoutItemInput, PayoutItemStatus } from '@florin/contract/schemas';
import { sql, type Updateable } from 'kysely';
import { addWithin, takeBack } from '../platform/db/guards/index.ts';
import type { Db, Tables, Tx } from '../platform/db/index.ts';
import {
  type CreatedRange,
  cursorOf,
  madeWithin,
  type Page,
  readByCreation,
} from '../platform/db/lists/index.ts';
import { deferred, listed } from '../platform/db/statements/index.ts';
import { Fail, invariant } from '../platform/fail.ts';
import { decodeId } from '../tenancy/index.ts';
import type { CheckedItem } from './check-items.ts';
import type { Totals } from './states.ts';
import { BATCH_MOVES, ITEM_MOVES } from './states.ts';
import './tables.ts';

export const batchNotFound = () => new Fail('resource_not_found', 'There is no such payout batch.');
const itemNotFound = () => new Fail('resource_not_found', 'There is no such payout item.');

const selectBatch = (db: Db, merchantId: string, batchId: string) =>
  db
    .selectFrom('payout_batch')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('batch_id', '=', batchId);

export type BatchRow = Awaited<ReturnType<typeof getBatch>>;
export type ItemRow = Awaited<ReturnType<typeof listItems>>[number];

/** Decodes the public id of a batch. @throws Fail `resource_not_found`, as for an unknown batch */
export function batchIdOf(text: string): string {
  const id = decodeId('payoutBatch', text);
  if (id === undefined) throw batchNotFound();
  return id;
}

/** @throws Fail `resource_not_found` for unknown batches and those of other merchants alike */
export async function getBatch(db: Db, merchantId: string, batchId: string) {
  const batch = await selectBatch(db, merchantId, batchId).executeTakeFirst();
  if (batch === undefined) throw batchNotFound();
  return batch;
}

/** @returns undefined for an unknown id */
export async function findBatch(db: Db, merchantId: string, batchId: string): Promise<BatchRow | undefined> {
  return await selectBatch(db, merchantId, batchId).executeTakeFirst();
}

/** Locks a batch. Every change of a batch begins with this lock. */
export async function lockBatch(tx: Tx, merchantId: string, batchId: string): Promise<BatchRow> {
  const batch = await selectBatch(tx, merchantId, batchId).forUpdate().executeTakeFirst();
  if (batch === undefined) throw batchNotFound();
  return batch;
}

export interface BatchFilter extends Page<string> {
  status?: PayoutBatchStatus | undefined;
  currency?: Asset | undefined;
  idempotencyKey?: string | undefined;
  created?: CreatedRange | undefined;
}

/** In the order of their creation; one row more than the limit. */
export async function listBatches(db: Db, merchantId: string, filter: BatchFilter): Promise<BatchRow[]> {
  let query = db.selectFrom('payout_batch').selectAll().where('merchant_id', '=', merchantId);
  if (filter.status !== undefined) query = query.where('status', '=', filter.status);
  if (filter.currency !== undefined) query = query.where('currency', '=', filter.currency);
  if (filter.idempotencyKey !== undefined) query = query.where('idempotency_key', '=', filter.idempotencyKey);
  const after = await cursorOf(filter.after, (id) => selectBatch(db, merchantId, id).executeTakeFirst());
  return await readByCreation(madeWithin(query, filter.created ?? {}), 'batch_id', { ...filter, after });
}

export interface ItemFilter {
  limit: number;
  after?: string | undefined;
  status?: PayoutItemStatus | undefined;
}

/** In the order of the batch; one row more than the limit. */
export async function listItems(db: Db, merchantId: string, batchId: string, filter: ItemFilter) {
  let query = db
    .selectFrom('payout_item')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('batch_id', '=', batchId);
  if (filter.status !== undefined) query = query.where('status', '=', filter.status);
  const cursor = await cursorOf(filter.after, (id) => findItem(db, merchantId, batchId, id));
  if (cursor !== undefined) query = query.where('index', '>', cursor.index);
  return await query
    .orderBy('index')
    .limit(filter.limit + 1)
    .execute();
}

export async function readItems(db: Db, merchantId: string, batchId: string): Promise<ItemRow[]> {
  return await listItems(db, merchantId, batchId, { limit: Number.MAX_SAFE_INTEGER - 1 });
}

async function findItem(
  db: Db,
  merchantId: string,
  batchId: string,
  itemId: string,
): Promise<ItemRow | undefined> {
  return await db
    .selectFrom('payout_item')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('batch_id', '=', batchId)
    .where('item_id', '=', itemId)
    .executeTakeFirst();
}

/** @throws Fail `resource_not_found` */
export async function getItem(
  db: Db,
  merchantId: string,
  batchId: string,
  itemText: string,
): Promise<ItemRow> {
  const itemId = decodeId('payoutItem', itemText);
  const item = itemId && (await findItem(db, merchantId, batchId, itemId));
  if (item === undefined || item === '') throw itemNotFound();
  return item;
}

/** @throws Fail `resource_not_found` */
export async function getItemById(db: Db, batch: BatchRow, itemId: string): Promise<ItemRow> {
  const item = await findItem(db, batch.merchant_id, batch.batch_id, itemId);
  if (item === undefined) throw itemNotFound();
  return item;
}

/** The item in the form of a request. */
export function inputOf(item: ItemRow): PayoutItemInput {
  return {
    network: item.network,
    address: item.address,
    amount: formatAmount(item.amount),
    ...(item.real_name === null ? {} : { real_name: item.real_name }),
    ...(item.memo === null ? {} : { memo: item.memo }),
  };
}

export interface NewItem extends CheckedItem {
  itemId: string;
}

/** Inserts a batch, with every column given so that it need not be read back, and its items. */
export async function insertBatch(tx: Tx, batch: BatchRow, items: readonly NewItem[]): Promise<void> {
  const row = { ...batch, validation_errors: JSON.stringify(batch.validation_errors) };
  await deferred`${tx.insertInto('payout_batch').values(row)}`.execute(tx);
  const fresh = listed('i', items, {
    index: ['integer', (i) => i.index],
    item_id: ['uuid', (i) => i.itemId],
    real_name: ['text', (i) => i.input.real_name ?? null],
    network: ['text', (i) => i.input.network],
    address: ['text', (i) => i.input.address],
    memo: ['text', (i) => i.input.memo ?? null],
    amount: ['bigint', (i) => i.amount],
    fee: ['bigint', (i) => i.fee],
    status: ['text', statusOf],
    errors: ['text', (i) => JSON.stringify(i.errors)],
  });
  await deferred`
    insert into payout_item (merchant_id, batch_id, index, item_id, real_name, network, address, memo, amount,
                             service_fee_amount, status, validation_errors, created_at)
    select ${batch.merchant_id}::uuid, ${batch.batch_id}::uuid, i.index, i.item_id, i.real_name, i.network, i.address,
           i.memo, i.amount, i.fee, i.status, i.errors::jsonb, ${batch.created_at}::bigint
    from ${fresh}`.execute(tx);
}

const statusOf = ({ errors }: CheckedItem): 'valid' | 'invalid' =>
  errors.length === 0 ? 'valid' : 'invalid';

/** Writes the findings of a check to the items of a locked batch. @throws if one of them may not become `valid` or `invalid` */
export async function writeFindings(tx: Tx, batch: BatchRow, items: readonly CheckedItem[]): Promise<void> {
  const findings = listed('v', items, {
    index: ['integer', (i) => i.index],
    status: ['text', statusOf],
    errors: ['text', (i) => JSON.stringify(i.errors)],
  });
  const { numAffectedRows } = await sql`
    update payout_item p set status = v.status, validation_errors = v.errors::jsonb
    from ${findings}
    where p.merchant_id = ${batch.merchant_id} and p.batch_id = ${batch.batch_id} and p.index = v.index
      and ${ITEM_MOVES.allowedIn(sql`p.status`, sql`v.status`)}`.execute(tx);
  invariant(
    numAffectedRows === BigInt(items.length),
    'only items of a batch that was not submitted are checked',
  );
}

/** The columns of a batch that are computed from its items. */
export const totalColumns = (totals: Totals) => ({
  total_count: totals.total,
  valid_count: totals.valid,
  invalid_count: totals.invalid,
  requested_amount: totals.requested,
  total_amount: totals.amount,
  service_fee_amount: totals.fees,
  debit_amount: totals.amount + totals.fees,
  validation_errors: JSON.stringify(totals.errors),
});

/** Updates the locked batch and reads it back. */
export async function updateBatch(
  tx: Tx,
  batch: BatchRow,
  change: Updateable<Tables['payout_batch']>,
): Promise<BatchRow> {
  if (change.status !== undefined) BATCH_MOVES.check(batch.status, change.status);
  return await tx
    .updateTable('payout_batch')
    .set(change)
    .where('merchant_id', '=', batch.merchant_id)
    .where('batch_id', '=', batch.batch_id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Moves every item of a batch to a status. */
export async function moveItems(tx: Tx, batch: BatchRow, status: PayoutItemStatus): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('payout_item')
    .set({ status })
    .where('merchant_id', '=', batch.merchant_id)
    .where('batch_id', '=', batch.batch_id)
    .where('status', 'in', ITEM_MOVES.into(status))
    .executeTakeFirstOrThrow();
  invariant(numUpdatedRows === BigInt(batch.total_count), `every item of the batch may become ${status}`);
}

const quotaOf = ({ merchant_id, currency }: BatchRow, day: number | bigint) =>
  ({ table: 'payout_quota', key: { merchant_id, currency, day } }) as const;

/** Adds a batch to the day's quota of its merchant and currency. @returns false where it does not fit */
export async function takeQuota(tx: Tx, batch: BatchRow, day: number, quota: bigint): Promise<boolean> {
  return await addWithin(tx, quotaOf(batch, day), batch.requested_amount, quota);
}

/** Takes a canceled or rejected batch out of the quota of the day on which it was submitted. */
export async function returnQuota(tx: Tx, batch: BatchRow): Promise<void> {
  if (batch.submitted_day === null) return;
  await takeBack(tx, quotaOf(batch, batch.submitted_day), batch.requested_amount);
}

/** Replaces an item of a locked batch; id, index and time of creation stay. @throws if it may not become `valid` or `invalid` */
export async function replaceItem(tx: Tx, batch: BatchRow, item: CheckedItem): Promise<void> {
  const status = statusOf(item);
  const { numUpdatedRows } = await tx
    .updateTable('payout_item')
    .set({
      real_name: item.input.real_name ?? null,
      network: item.input.network,
      address: item.input.address,
      memo: item.input.memo ?? null,
      amount: item.amount,
      service_fee_amount: item.fee,
      status,
      validation_errors: JSON.stringify(item.errors),
    })
    .where('merchant_id', '=', batch.merchant_id)
    .where('batch_id', '=', batch.batch_id)
    .where('index', '=', item.index)
    .where('status', 'in', ITEM_MOVES.into(status))
    .executeTakeFirstOrThrow();
  invariant(numUpdatedRows === 1n, `the item may become ${status}`);
}

export async function deleteItem(tx: Tx, item: ItemRow): Promise<void> {
  await tx
    .deleteFrom('payout_item')
    .where('merchant_id', '=', item.merchant_id)
    .where('batch_id', '=', item.batch_id)
    .where('index', '=', item.index)
    .execute();
}

/** Updates an item of a locked batch and reads it back. */
export async function updateItem(
  tx: Tx,
  item: ItemRow,
  change: Updateable<Tables['payout_item']>,
): Promise<ItemRow> {
  if (change.status !== undefined) ITEM_MOVES.check(item.status, change.status);
  return await tx
    .updateTable('payout_item')
    .set(change)
    .where('merchant_id', '=', item.merchant_id)
    .where('batch_id', '=', item.batch_id)
    .where('index', '=', item.index)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Finds the merchant and batch of an item by its public id, for operators. @throws Fail `resource_not_found` */
export async function locateItem(
  db: Db,
  itemText: string,
): Promise<{ merchantId: string; batchId: string; itemId: string }> {
  const itemId = decodeId('payoutItem', itemText);
  const row =
    itemId &&
    (await db
      .selectFrom('payout_item')
      .select(['merchant_id', 'batch_id'])
      .where('item_id', '=', itemId)
      .executeTakeFirst());
  if (itemId === undefined || row === undefined || row === '') throw itemNotFound();
  return { merchantId: row.merchant_id, batchId: row.batch_id, itemId };
}

export interface SettledItem {
  index: number;
  status: 'succeeded' | 'failed';
  txId: string | null;
  failureCode: string | null;
  failureMessage: string | null;
  completedAt: number;
}

/** The moves of a settlement. A succeeded item whose payment is lost fails by `updateItem` instead. */
const SETTLE = {
  succeeded: ITEM_MOVES.move('processing', 'succeeded'),
  failed: ITEM_MOVES.move('processing', 'failed'),
};

/** Writes the outcomes of items of a locked batch. @throws if one of them is not `processing` */
export async function writeSettled(tx: Tx, batch: BatchRow, items: readonly SettledItem[]): Promise<void> {
  const settled = listed('v', items, {
    index: ['integer', (i) => i.index],
    from_status: ['text', (i) => SETTLE[i.status].from],
    status: ['text', (i) => SETTLE[i.status].to],
    tx_id: ['text', (i) => i.txId],
    failure_code: ['text', (i) => i.failureCode],
    failure_message: ['text', (i) => i.failureMessage],
    completed_at: ['bigint', (i) => i.completedAt],
  });
  const { numAffectedRows } = await sql`
    update payout_item p
    set status = v.status, tx_id = v.tx_id, failure_code = v.failure_code, failure_message = v.failure_message,
        completed_at = v.completed_at
    from ${settled}
    where p.merchant_id = ${batch.merchant_id} and p.batch_id = ${batch.batch_id} and p.index = v.index
      and p.status = v.from_status`.execute(tx);
  invariant(numAffectedRows === BigInt(items.length), 'only items that are processing are settled');
}

/** Finds the merchant of a batch by its public id, for operators. @throws Fail `resource_not_found` */
export async function locateBatch(
  db: Db,
  batchText: string,
): Promise<{ merchantId: string; batchId: string }> {
  const batchId = batchIdOf(batchText);
  const row = await db
    .selectFrom('payout_batch')
    .select('merchant_id')
    .where('batch_id', '=', batchId)
    .executeTakeFirst();
  if (row === undefined) throw batchNotFound();
  return { merchantId: row.merchant_id, batchId };
}
