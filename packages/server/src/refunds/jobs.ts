import type { JobSpec } from '../platform/jobs/index.ts';
import type { MerchantTime } from '../tenancy/index.ts';
import { decidedJob } from '../transfers/index.ts';
import type { RefundRow } from './queries.ts';

export const OWNER_TYPE = 'refund';
/** Sends a refund once its delay is over; payload `{ refundId }`. */
export const SEND_REFUND_JOB = 'refunds.send';
/** Ends a refund whose payer has named no address in time; payload as above. */
export const EXPIRE_CLAIM_JOB = 'refunds.expire-claim';
/** Cancels a refund that nobody has approved in time; payload as above. */
export const EXPIRE_REFUND_APPROVAL_JOB = 'refunds.expire-approval';
/** Books the outcome of a refund's transfer; payload `{ groupId }`. */
export const SETTLE_REFUND_JOB = decidedJob(OWNER_TYPE);

/** How long a refund waits for approval. */
export const APPROVAL_WAITS_SECONDS = 7 * 86_400;

type RefundKey = Pick<RefundRow, 'merchant_id' | 'refund_id'>;

const jobOf = ({ merchant_id: merchantId, refund_id: refundId }: RefundKey) => ({
  merchantId,
  uniqueKey: refundId,
  payload: { refundId },
});

export function sendJob(refund: RefundKey, { realMs }: MerchantTime, delaySeconds: number): JobSpec {
  const dueAtMs = realMs + delaySeconds * 1000;
  return { ...jobOf(refund), kind: SEND_REFUND_JOB, dueAtMs, followsClock: true };
}

export function expireClaimJob(refund: RefundKey, { realMs }: MerchantTime, seconds: number): JobSpec {
  const dueAtMs = realMs + seconds * 1000;
  return { ...jobOf(refund), kind: EXPIRE_CLAIM_JOB, dueAtMs, followsClock: true };
}

export function expireApprovalJob(refund: RefundKey, { realMs }: MerchantTime): JobSpec {
  const dueAtMs = realMs + APPROVAL_WAITS_SECONDS * 1000;
  return { ...jobOf(refund), kind: EXPIRE_REFUND_APPROVAL_JOB, dueAtMs, followsClock: true };
}
