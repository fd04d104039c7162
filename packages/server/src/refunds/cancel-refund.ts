import { transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import type { Caller } from '../platform/http/index.ts';
import type { Job, JobOutcome, JobRun } from '../platform/jobs/index.ts';
import { getMerchant } from '../stores/index.ts';
import { merchantTime } from '../tenancy/index.ts';
import { claimSecondsLeft } from './claim-link.ts';
import type { RefundDeps } from './deps.ts';
import { endRefund } from './end-refund.ts';
import { awaitsClaim } from './present.ts';
import { getRefund, lockRefund, type RefundRow } from './queries.ts';

/** @throws Fail `resource_not_found`; `invalid_request` once it is sent or has ended */
export async function cancelRefund(deps: RefundDeps, caller: Caller, ownId: string): Promise<RefundRow> {
  const { merchantId } = caller;
  const { refund_id: refundId } = await getRefund(deps.db, caller, ownId);
  return await transact(deps.db, async (tx) => {
    const locked = await lockRefund(tx, merchantId, refundId);
    const { status } = locked.refund;
    if (status !== 'pending')
      throw new Fail('invalid_request', `A refund that is ${status} cannot be canceled.`);
    return await endRefund(tx, locked, { status: 'canceled' }, merchantTime(deps, caller));
  });
}

/** How often the expiry job runs for a suspended merchant, whose links do not expire meanwhile. */
const SUSPENDED_RETRY_SECONDS = 900;

/** Handles `EXPIRE_CLAIM_JOB`: cancels a refund whose payer has named no address in time. */
export async function expireClaim(deps: RefundDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const merchant = await getMerchant(deps.db, job.merchantId);
  const time = merchantTime(deps, merchant);
  const left = await run.step(async (tx) => {
    const locked = await lockRefund(tx, job.merchantId, String(job.payload.refundId));
    const seconds = claimSecondsLeft(locked.refund, merchant, time.seconds);
    if (seconds === 0 && awaitsClaim(locked.refund))
      await endRefund(tx, locked, { status: 'canceled' }, time);
    return seconds;
  });
  if (left === 0) return 'done';
  const wait = merchant.suspendedAt === null ? left : Math.max(left, SUSPENDED_RETRY_SECONDS);
  return { againAtMs: time.realMs + wait * 1000 };
}
