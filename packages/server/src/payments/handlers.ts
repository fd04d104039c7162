import type { JobHandler } from '../platform/jobs/index.ts';
import { FILL_POOL_JOB, fillPool } from './deposits/address-pools.ts';
import { SCAN_JOB } from './deposits/jobs.ts';
import { scanDeposits } from './deposits/scan-deposits.ts';
import type { PaymentDeps } from './deps.ts';
import { expirePayment } from './expire-payment.ts';
import { EXPIRE_JOB, QUOTE_JOB } from './jobs.ts';
import { requotePayment } from './quotes/requote-payment.ts';

/** The handlers of this module's jobs, by kind. */
export const paymentHandlers = (deps: PaymentDeps): [kind: string, handler: JobHandler][] => [
  [SCAN_JOB, (job, run) => scanDeposits(deps, job, run)],
  [FILL_POOL_JOB, (job, run) => fillPool(deps, job, run)],
  [EXPIRE_JOB, (job) => expirePayment(deps, job)],
  [QUOTE_JOB, (job) => requotePayment(deps, job)],
];
