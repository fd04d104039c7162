import { CHARGE_DECIDED_JOB } from '../payment-methods/charges/index.ts';
import { METHOD_CHANGED_JOB } from '../payment-methods/mandates/index.ts';
import { INVOICE_PAGE_CHANGED_JOB } from '../payments/invoice-pages/index.ts';
import type { JobHandler } from '../platform/jobs/index.ts';
import { billSubscription } from './bill-subscription.ts';
import type { SubscriptionDeps } from './deps.ts';
import { followPage, retryCharges } from './follow-page.ts';
import { DUE_JOB } from './jobs.ts';
import { mailRenewal, RENEWAL_MAIL_JOB } from './mail-renewal.ts';
import { MAIL_JOB, mailSubscription } from './mail-subscription.ts';
import { settleCharge } from './settle-charge.ts';

/** The handlers of jobs by kind: of this module's own jobs, and of those that `payments` and `payment-methods` enqueue for it. */
export const subscriptionHandlers = (deps: SubscriptionDeps): [kind: string, handler: JobHandler][] => [
  [DUE_JOB, (job, run) => billSubscription(deps, job, run)],
  [CHARGE_DECIDED_JOB, (job, run) => settleCharge(deps, job, run)],
  [INVOICE_PAGE_CHANGED_JOB, (job, run) => followPage(deps, job, run)],
  [MAIL_JOB, (job, run) => mailSubscription(deps, job, run)],
  [RENEWAL_MAIL_JOB, (job, run) => mailRenewal(deps, job, run)],
  [METHOD_CHANGED_JOB, (job, run) => retryCharges(deps, job, run)],
];
