import { PAYMENT_NOTICE_JOB, RECEIPT_JOB } from '../mail/index.ts';
import type { PaymentDeps } from '../payments/index.ts';
import type { JobHandler } from '../platform/jobs/index.ts';
import { mailNotice } from './mail-notice.ts';
import { mailReceipt } from './mail-receipt.ts';

/** The handlers of this module's jobs, by kind; `payments` enqueues them. */
export const checkoutHandlers = (deps: PaymentDeps): [kind: string, handler: JobHandler][] => [
  [RECEIPT_JOB, (job, run) => mailReceipt(deps, job, run)],
  [PAYMENT_NOTICE_JOB, (job, run) => mailNotice(deps, job, run)],
];
