import type { JobHandler } from '../platform/jobs/index.ts';
import { SEND_MAIL_JOB } from './jobs.ts';
import { type MailDeps, sendMail } from './send-mail.ts';

export { RECEIPT_JOB, receiptJob } from './jobs.ts';
export { type NewMail, queueMail } from './queue-mail.ts';
export { mailRoutes } from './routes.ts';
export type { MailDeps } from './send-mail.ts';
export { MAIL_SETTINGS } from './settings.ts';

/** The handlers of this module's jobs, by kind. */
export const mailHandlers = (deps: MailDeps): [kind: string, handler: JobHandler][] => [
  [SEND_MAIL_JOB, (job, run) => sendMail(deps, job, run)],
];
