import type { Job, JobOutcome, JobRun } from '../../platform/jobs/index.ts';
import { enqueue } from '../../platform/jobs/index.ts';
import { getMerchant } from '../../stores/index.ts';
import { merchantTime } from '../../tenancy/index.ts';
import { findEndedActivation } from '../../transfers/charges/index.ts';
import type { PaymentMethodDeps } from '../deps.ts';
import { lockPaymentMethod, updatePaymentMethod } from '../queries.ts';
import { writeRevoked } from './revoke-payment-method.ts';
import { watchJob } from './watch-job.ts';

/**
 * Handles `MANDATE_DECIDED_JOB`: a mandate that is on the chain for good is read from there from now on, and one that the
 * chain does not take is revoked.
 */
export async function settleActivation(deps: PaymentMethodDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const { merchantId } = job;
  const methodId = String(job.payload.groupId);
  const merchant = await getMerchant(deps.db, merchantId);
  const ended = await findEndedActivation(deps.db, merchantId, methodId);
  if (ended === undefined) return 'done';
  const now = merchantTime(deps, merchant);
  await run.step(async (tx) => {
    const method = await lockPaymentMethod(tx, merchantId, methodId);
    if (method.status === 'revoked' || method.activated_at !== null) return;
    if (ended.status === 'failed') {
      const fields = { merchant_id: merchantId, payment_method_id: methodId, fault: ended.fault };
      deps.log.warn(fields, 'a mandate is not activated, its payment method is revoked');
      await writeRevoked(tx, method, now, ended.fault === 'no_allowance');
      return;
    }
    await updatePaymentMethod(tx, method, { activated_at: now.seconds, next_read_at: now.seconds });
    await enqueue(tx, [watchJob(merchantId, method.network, now.realMs)]);
  });
  return 'done';
}
