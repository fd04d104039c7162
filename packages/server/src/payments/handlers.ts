import type { JobHandler } from '../platform/jobs/index.ts';
import type { PaymentDeps } from './deps.ts';
import { expirePayment } from './expire-payment.ts';
import { EXPIRE_JOB, QUOTE_JOB, SCAN_JOB } from './jobs.ts';
import { requotePayment } from './requote-payment.ts';
import { scanDeposits } from './scan-deposits.ts';

/** The handlers of this module's jobs, by kind. */
export const paymentHandlers = (deps: PaymentDeps): [kind: string, handler: JobHandler][] => [
  [SCAN_JOB, (job, run) => scanDeposits(deps, job, run)],
  [EXPIRE_JOB, (job) => expirePayment(deps, job)],
  [QUOTE_JOB, (job) => requotePayment(deps, job)],
];
