import { ChainUnavailable } from '../chains/port/index.ts';
import { auditedMoney } from '../payments/books/index.ts';
import { networkOf } from '../payments/deposits/index.ts';
import type { PaymentDeps } from '../payments/index.ts';
import type { Job, JobOutcome } from '../platform/jobs/index.ts';
import { getMerchant } from '../stores/index.ts';
import { merchantTime } from '../tenancy/index.ts';
import { readSettings } from '../tenancy/settings/index.ts';
import { auditFinalBlocks } from '../transfers/blocks/index.ts';
import { CUSTODY_SETTINGS } from './settings.ts';

const INTERVAL_MS = 60_000;

/**
 * Handles `AUDIT_JOB`: reads the newest final blocks again and compares them with the books, in and out. Runs every minute
 * while these blocks hold transfers of ours. Every movement of coins enqueues it, so a quiet network costs nothing.
 */
export async function auditNetwork(deps: PaymentDeps, job: Job): Promise<JobOutcome> {
  const merchant = await getMerchant(deps.db, job.merchantId);
  const network = networkOf(job);
  const { auditBlocks } = await readSettings(deps.db, merchant, CUSTODY_SETTINGS);
  const again = { againAtMs: deps.clock.nowMs() + INTERVAL_MS };
  try {
    const seconds = merchantTime(deps, merchant).seconds;
    const isDone = await auditFinalBlocks(
      deps,
      merchant,
      { network, depth: BigInt(auditBlocks), nowSeconds: seconds },
      auditedMoney(deps, merchant, seconds),
    );
    return isDone ? 'done' : again;
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    return again;
  }
}
