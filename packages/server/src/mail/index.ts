import type { JobHandler } from '../platform/jobs/index.ts';
import { NETWORK_STOPPED_JOB, SEND_MAIL_JOB } from './jobs.ts';
import { mailNetworkStopped } from './network-stopped.ts';
import { type MailDeps, sendMail } from './send-mail.ts';

export {
  NOTICE_KINDS,
  networkStoppedJob,
  PAYMENT_NOTICE_JOB,
  type PaymentNotice,
  paymentNoticeJob,
  RECEIPT_JOB,
  receiptJob,
} from './jobs.ts';
export { listCaughtMails, readCaughtMail } from './present.ts';
export { type NewMail, queueMail } from './queue-mail.ts';
export { mailRoutes } from './routes.ts';
export type { MailDeps } from './send-mail.ts';
export { MAIL_SETTINGS } from './settings.ts';

/** The handlers of this module's jobs, by kind. */
export const mailHandlers = (deps: MailDeps): [kind: string, handler: JobHandler][] => [
  [SEND_MAIL_JOB, (job, run) => sendMail(deps, job, run)],
  [NETWORK_STOPPED_JOB, (job, run) => mailNetworkStopped(deps, job, run)],
];
