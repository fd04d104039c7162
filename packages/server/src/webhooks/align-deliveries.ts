import type { Tx } from '../platform/db/index.ts';
import { NIL_ID } from '../platform/db/index.ts';
import { enqueue, type Job, type JobOutcome, type JobRun } from '../platform/jobs/index.ts';
import type { Platform } from '../platform/platform.ts';
import { getMerchant } from '../stores/index.ts';
import { moveDeliveries, pickHalted, pickPending } from './delivery-queries.ts';
import type { EndpointRow } from './endpoint-queries.ts';
import { deliverJob } from './jobs.ts';
import { lockEndpoint } from './queries.ts';

/** Days of failure may leave a million deliveries: they move in transactions of this size. */
const ROWS_MAX = 5_000;

type Endpoint = Pick<EndpointRow, 'merchant_id' | 'endpoint_id' | 'status'>;

/**
 * Brings deliveries of a locked endpoint into line with it: those of a disabled one wait; those of an enabled one are due
 * at once, in order of creation, with the retries that they had left.
 *
 * @param nowSeconds the merchant's clock
 * @returns whether there may be more
 */
export async function alignSome(tx: Tx, endpoint: Endpoint, nowSeconds: number): Promise<boolean> {
  const isEnabled = endpoint.status === 'enabled';
  const eventIds = isEnabled
    ? await pickHalted(tx, endpoint, 'paused', { after: NIL_ID, limit: ROWS_MAX })
    : await pickPending(tx, endpoint, ROWS_MAX);
  const move = isEnabled ? { status: 'pending' as const, dueAt: nowSeconds } : { status: 'paused' as const };
  await moveDeliveries(tx, endpoint, eventIds, move);
  return eventIds.length === ROWS_MAX;
}

/** Handles a job of `ALIGN_JOB`: the rest, as the endpoint stands by now. */
export async function alignDeliveries(platform: Platform, job: Job, run: JobRun): Promise<JobOutcome> {
  const { merchantId } = job;
  const endpointId = String(job.payload.endpointId);
  for (;;) {
    const isMore = await run.step(async (tx) => {
      const endpoint = await lockEndpoint(tx, merchantId, endpointId);
      if (endpoint === undefined) return false;
      const { clockOffset } = await getMerchant(tx, merchantId);
      const nowMs = platform.clock.nowMs();
      const more = await alignSome(tx, endpoint, Math.floor(nowMs / 1000) + clockOffset);
      if (endpoint.status === 'enabled')
        await enqueue(tx, [deliverJob({ merchantId, storeId: endpoint.store_id, endpointId }, nowMs)]);
      return more;
    });
    if (!isMore) return 'done';
  }
}
