import type { JobHandler } from '../platform/jobs/index.ts';
import { expireApproval } from './cancel-payout-batch.ts';
import type { PayoutDeps } from './deps.ts';
import { EXPIRE_APPROVAL_JOB, PROCESS_JOB, SETTLE_JOB } from './jobs.ts';
import { processBatch, settleBatch } from './pay-batch.ts';

/** The handlers of this module's jobs, by kind. */
export const payoutHandlers = (deps: PayoutDeps): [kind: string, handler: JobHandler][] => [
  [PROCESS_JOB, (job, run) => processBatch(deps, job, run)],
  [SETTLE_JOB, (job, run) => settleBatch(deps, job, run)],
  [EXPIRE_APPROVAL_JOB, (job, run) => expireApproval(deps, job, run)],
];
