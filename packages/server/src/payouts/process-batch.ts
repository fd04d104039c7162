import { checkAddress } from '../chains/addresses/index.ts';
import { crashPoint, type Job, type JobOutcome, type JobRun } from '../platform/jobs/index.ts';
import { getMerchant } from '../stores/index.ts';
import { merchantTime } from '../tenancy/index.ts';
import { requestTransfers, type TransferOrder } from '../transfers/index.ts';
import { changeBatch } from './change-batch.ts';
import type { PayoutDeps } from './deps.ts';
import { boundDigest } from './items-digest.ts';
import { OWNER_TYPE } from './jobs.ts';
import { type BatchRow, type ItemRow, lockBatch, moveItems, readItems } from './queries.ts';

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
