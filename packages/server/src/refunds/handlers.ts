import type { JobHandler } from '../platform/jobs/index.ts';
import { expireRefundApproval } from './approvals/decide-approval.ts';
import { expireClaim } from './cancel-refund.ts';
import type { RefundDeps } from './deps.ts';
import { EXPIRE_CLAIM_JOB, EXPIRE_REFUND_APPROVAL_JOB, SEND_REFUND_JOB, SETTLE_REFUND_JOB } from './jobs.ts';
import { sendRefund, settleRefund } from './send-refund.ts';

/** The handlers of this module's jobs, by kind. */
export const refundHandlers = (deps: RefundDeps): [kind: string, handler: JobHandler][] => [
  [SEND_REFUND_JOB, (job, run) => sendRefund(deps, job, run)],
  [SETTLE_REFUND_JOB, (job, run) => settleRefund(deps, job, run)],
  [EXPIRE_CLAIM_JOB, (job, run) => expireClaim(deps, job, run)],
  [EXPIRE_REFUND_APPROVAL_JOB, (job, run) => expireRefundApproval(deps, job, run)],
];
