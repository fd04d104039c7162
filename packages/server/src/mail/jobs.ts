import type { Network } from '@florin/contract/money';
import type { MailKind } from '@florin/contract/schemas';
import type { JobSpec } from '../platform/jobs/index.ts';

/**
 * Mails the receipt of a payment, and another one when more money came; enqueued by `payments`, handled by `checkout`,
 * which knows the page; payload `{ paymentId }`.
 */
export const RECEIPT_JOB = 'mail.receipt';

export const receiptJob = (
  merchantId: string,
  { paymentId, received }: { paymentId: string; received: bigint },
  dueAtMs: number,
): JobSpec => ({
  merchantId,
  kind: RECEIPT_JOB,
  uniqueKey: `${paymentId} ${received}`,
  dueAtMs,
  payload: { paymentId },
});

export const NOTICE_KINDS = [
  'payment_underpaid',
  'payment_incomplete',
  'payment_late',
  'payment_wrong_token',
] as const satisfies readonly MailKind[];

/** What a payer hears of money that did not complete a payment. */
export interface PaymentNotice {
  kind: (typeof NOTICE_KINDS)[number];
  /** What came, such as `12.50 USDT`. */
  amount: string;
  /** Differs for each notice of this kind: all that came so far, or the transfer. */
  cause: string;
  /** Its network and transaction, where the notice is about one transfer. */
  network: Network | null;
  transaction: string | null;
}

/** Mails a payer a notice; enqueued by `payments`, handled by `checkout`; payload `{ paymentId } & PaymentNotice`. */
export const PAYMENT_NOTICE_JOB = 'mail.payment_notice';

export const paymentNoticeJob = (
  merchantId: string,
  { paymentId, notice }: { paymentId: string; notice: PaymentNotice },
  dueAtMs: number,
): JobSpec => ({
  merchantId,
  kind: PAYMENT_NOTICE_JOB,
  uniqueKey: `${paymentId} ${notice.kind} ${notice.cause}`,
  dueAtMs,
  payload: { paymentId, ...notice },
});

/** Mails the people of all merchants whose sending on a network has stopped; payload `{ network, reason, stoppedAt }`. */
export const NETWORK_STOPPED_JOB = 'mail.network_stopped';

export const networkStoppedJob = (
  merchantId: string,
  stop: { network: Network; reason: string; stoppedAt: number },
  dueAtMs: number,
): JobSpec => ({
  merchantId,
  kind: NETWORK_STOPPED_JOB,
  uniqueKey: `${stop.network} ${stop.stoppedAt}`,
  dueAtMs,
  payload: stop,
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
