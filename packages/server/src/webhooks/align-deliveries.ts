import { NIL_ID } from '../platform/db/ids/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { enqueue, type Job, type JobOutcome, type JobRun } from '../platform/jobs/index.ts';
import type { Platform } from '../platform/platform.ts';
import { getMerchant } from '../stores/index.ts';
import { lockPending, lockStopped, moveDeliveries } from './delivery-queries.ts';
import type { EndpointRow } from './endpoint-queries.ts';
import { deliverJob } from './jobs.ts';
import { lockEndpoint } from './queries.ts';

/** Rows per transaction: days of failure may leave a million deliveries. */
const ROWS_MAX = 5_000;

type Endpoint = Pick<EndpointRow, 'merchant_id' | 'endpoint_id' | 'status'>;

/**
 * Pauses the pending deliveries of a disabled endpoint, or resumes the paused ones of an enabled endpoint: due at once, in
 * order of creation, with the retries they had left. At most 5,000 of them; the caller holds the endpoint's lock.
 *
 * @param nowSeconds the merchant's clock
 * @returns whether there may be more
 */
export async function alignBatch(tx: Tx, endpoint: Endpoint, nowSeconds: number): Promise<boolean> {
  const isEnabled = endpoint.status === 'enabled';
  const eventIds = isEnabled
    ? await lockStopped(tx, endpoint, 'paused', { after: NIL_ID, limit: ROWS_MAX })
    : await lockPending(tx, endpoint, ROWS_MAX);
  const move = isEnabled ? { status: 'pending' as const, dueAt: nowSeconds } : { status: 'paused' as const };
  await moveDeliveries(tx, endpoint, eventIds, move);
  return eventIds.length === ROWS_MAX;
}

/** Handles `ALIGN_JOB`: aligns the remaining deliveries with the endpoint's current status. */
export async function alignDeliveries(platform: Platform, job: Job, run: JobRun): Promise<JobOutcome> {
  const { merchantId } = job;
  const endpointId = String(job.payload.endpointId);
  for (;;) {
    const isMore = await run.step(async (tx) => {
      const endpoint = await lockEndpoint(tx, merchantId, endpointId);
      if (endpoint === undefined) return false;
      const { clockOffset } = await getMerchant(tx, merchantId);
      const nowMs = platform.clock.nowMs();
      const more = await alignBatch(tx, endpoint, Math.floor(nowMs / 1000) + clockOffset);
      if (endpoint.status === 'enabled')
        await enqueue(tx, [deliverJob({ merchantId, storeId: endpoint.store_id, endpointId }, nowMs)]);
      return more;
    });
    if (!isMore) return 'done';
  }
}
