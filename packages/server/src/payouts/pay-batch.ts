import { checkAddress } from '../chains/addresses/index.ts';
import { post } from '../ledger/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { crashPoint, type Job, type JobOutcome, type JobRun } from '../platform/jobs/index.ts';
import { getMerchant } from '../stores/index.ts';
import { type MerchantTime, merchantTime } from '../tenancy/index.ts';
import { listDecided, requestTransfers, type TransferOrder } from '../transfers/index.ts';
import { changeBatch } from './change-batch.ts';
import type { PayoutDeps } from './deps.ts';
import { boundDigest } from './items-digest.ts';
import { OWNER_TYPE } from './jobs.ts';
import { mailBatch } from './mail-batch.ts';
import { releasePostings, settlePostings } from './postings.ts';
import {
  type BatchRow,
  type ItemRow,
  lockBatch,
  moveItems,
  readItems,
  type SettledItem,
  writeSettled,
} from './queries.ts';
import { finalStatus } from './states.ts';
import { syncLostItems } from './sync-lost-items.ts';

/** How often a batch checks whether its merchant is still suspended. */
const SUSPENDED_RETRY_MS = 60_000;

/** pending → processing: takes the batch and orders its transfers in the same transaction. */
export async function processBatch(deps: PayoutDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  crashPoint('process.claimed');
  const merchant = await getMerchant(deps.db, job.merchantId);
  const time = merchantTime(deps, merchant);
  if (merchant.status === 'suspended')
    return { againAtMs: time.realMs + SUSPENDED_RETRY_MS, followsClock: false };
  await run.step(async (tx) => {
    const batch = await lockBatch(tx, job.merchantId, String(job.payload.batchId));
    // Canceled meanwhile, or taken by a run whose answer was lost.
    if (batch.status !== 'pending') return;
    const items = await readItems(tx, job.merchantId, batch.batch_id);
    // Rows that were changed outside the service are not paid: the job fails until an operator cancels the batch.
    boundDigest(batch, items);
    await moveItems(tx, batch, 'processing');
    await requestTransfers(
      tx,
      job.merchantId,
      items.map((item) => orderOf(batch, item)),
      time,
    );
    await changeBatch(tx, batch, { status: 'processing' }, time);
    crashPoint('process.before-commit');
  });
  crashPoint('process.after-commit');
  return 'done';
}

export function orderOf(batch: BatchRow, item: ItemRow): TransferOrder {
  return {
    ownerType: OWNER_TYPE,
    ownerId: item.item_id,
    groupId: batch.batch_id,
    place: item.index,
    network: batch.network,
    currency: batch.currency,
    address: checkAddress(batch.network, item.address, { allowProgramOwned: true }).canonical,
    amount: item.amount,
    memo: item.memo,
  };
}

/** Books the transfers that were decided since the last run, and ends the batch after the last one. */
export async function settleBatch(deps: PayoutDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const merchant = await getMerchant(deps.db, job.merchantId);
  const time = merchantTime(deps, merchant);
  await run.step(async (tx) => {
    const batch = await lockBatch(tx, job.merchantId, String(job.payload.groupId));
    crashPoint('settle.before');
    const transfers = await listDecided(tx, batch.merchant_id, batch.batch_id);
    const decided = new Map(transfers.map((t) => [t.owner_id, t]));
    const items = await readItems(tx, batch.merchant_id, batch.batch_id);
    if (batch.status === 'processing') await settle(tx, batch, { items, decided }, time);
    if (isAnyLostOrRepaid(transfers, items, decided)) await syncSettledItems(tx, batch, decided, time);
    crashPoint('settle.before-commit');
  });
  crashPoint('settle.after-commit');
  return 'done';
}

/**
 * Whether the payment of an item that was settled before has changed since: a reorganisation took it; or another transaction
 * pays the item, as a lost one was paid again, or another version of the same attempt turned out to be mined.
 */
function isAnyLostOrRepaid(
  transfers: readonly { lost_at: unknown }[],
  items: readonly ItemRow[],
  decided: ReadonlyMap<string, { tx_id: string | null }>,
): boolean {
  const isAnyLost = [...transfers, ...items].some((one) => one.lost_at !== null);
  const isPaidByAnother = (item: ItemRow) =>
    item.status === 'succeeded' && decided.get(item.item_id)?.tx_id !== item.tx_id;
  return isAnyLost || items.some(isPaidByAnother);
}

/** A transfer may be lost before its item is settled, so items are read again after settling. */
async function syncSettledItems(
  tx: Tx,
  { merchant_id: merchantId, batch_id: batchId }: BatchRow,
  decided: Parameters<typeof syncLostItems>[2]['decided'],
  time: MerchantTime,
): Promise<void> {
  const batch = await lockBatch(tx, merchantId, batchId);
  const items = await readItems(tx, merchantId, batchId);
  await syncLostItems(tx, batch, { items, decided }, time);
}

/** Books what was decided of the open items. */
async function settle(
  tx: Tx,
  batch: BatchRow,
  { items, decided }: Parameters<typeof syncLostItems>[2],
  time: MerchantTime,
): Promise<void> {
  const open = items.filter((item) => item.status === 'processing');
  const settled = open.flatMap((item): { item: ItemRow; outcome: SettledItem }[] => {
    const transfer = decided.get(item.item_id);
    if (transfer === undefined) return [];
    const outcome: SettledItem = {
      index: item.index,
      status: transfer.status === 'succeeded' ? 'succeeded' : 'failed',
      txId: transfer.tx_id,
      failureCode: transfer.failure_code,
      failureMessage: transfer.failure_message,
      completedAt: Number(transfer.completed_at ?? time.seconds),
    };
    return [{ item, outcome }];
  });
  if (settled.length === 0) return;
  const postings = settled.flatMap(({ item, outcome }) =>
    outcome.status === 'succeeded' ? settlePostings(batch, item) : releasePostings(batch, item),
  );
  await post(tx, batch.merchant_id, postings, time.seconds);
  await writeSettled(
    tx,
    batch,
    settled.map(({ outcome }) => outcome),
  );
  await countSettled(tx, batch, settled, time);
}

/** Counts what was settled; the last one ends the batch, and mails where an item failed. */
async function countSettled(
  tx: Tx,
  batch: BatchRow,
  settled: readonly { item: ItemRow; outcome: SettledItem }[],
  time: MerchantTime,
): Promise<void> {
  const paid = settled.filter(({ outcome }) => outcome.status === 'succeeded');
  const succeeded = batch.success_count + paid.length;
  const failed = batch.failed_count + settled.length - paid.length;
  const settledAmount = settled.reduce((sum, { item }) => sum + item.amount + item.service_fee_amount, 0n);
  const fees = paid.reduce((sum, { item }) => sum + item.service_fee_amount, 0n);
  const end = finalStatus({ total: batch.total_count, succeeded, failed });
  const change = {
    success_count: succeeded,
    failed_count: failed,
    frozen_amount: batch.frozen_amount - settledAmount,
    charged_service_fee_amount: batch.charged_service_fee_amount + fees,
    ...(end === undefined ? {} : { status: end, completed_at: time.seconds }),
  };
  const written = await changeBatch(tx, batch, change, time);
  if (end !== undefined && failed > 0) await mailBatch(tx, written, 'payout_failed', time);
}
