import type { JobSpec } from '../platform/jobs/index.ts';

/** Mails the receipt of a payment; enqueued by `payments`, handled by `checkout`, which knows the page; payload `{ paymentId }`. */
export const RECEIPT_JOB = 'mail.receipt';

export const receiptJob = (merchantId: string, paymentId: string, dueAtMs: number): JobSpec => ({
  merchantId,
  kind: RECEIPT_JOB,
  uniqueKey: paymentId,
  dueAtMs,
  payload: { paymentId },
});

/** Hands a mail to the mail server; payload `{ mailId }`. */
export const SEND_MAIL_JOB = 'mail.send';

export const sendMailJob = (merchantId: string, mailId: string, dueAtMs: number): JobSpec => ({
  merchantId,
  kind: SEND_MAIL_JOB,
  uniqueKey: mailId,
  dueAtMs,
  payload: { mailId },
});
