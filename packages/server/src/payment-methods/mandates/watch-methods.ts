import { networkNamed } from '@florin/contract/money';
import type { Job, JobOutcome, JobRun } from '../../platform/jobs/index.ts';
import { getMerchant } from '../../stores/index.ts';
import { merchantTime } from '../../tenancy/index.ts';
import type { PaymentMethodDeps } from '../deps.ts';
import { listDueForReading, nextReadingAt } from '../queries.ts';
import { applyReadings, contextOf, readChain } from './read-mandate.ts';

/** Methods per chain call and per transaction. */
const BATCH = 500;

/** Handles `WATCH_METHODS_JOB`: one batch per run, so that a merchant's charges are not delayed by many methods. */
export async function watchMethods(deps: PaymentMethodDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const { merchantId } = job;
  const network = networkNamed(job.payload.network);
  const merchant = await getMerchant(deps.db, merchantId);
  const now = merchantTime(deps, merchant);
  const methods = await listDueForReading(deps.db, merchantId, { network, now: now.seconds, limit: BATCH });
  if (methods.length > 0) {
    const readings = await readChain(deps, merchant, methods, now);
    const context = await contextOf(deps, merchant, methods, now);
    await run.step((tx) => applyReadings(tx, readings, context));
  }
  const nextAt = await nextReadingAt(deps.db, merchantId, network);
  if (nextAt === undefined) return 'done';
  return { againAtMs: now.realMs + Math.max(0, nextAt - now.seconds) * 1000 };
}
