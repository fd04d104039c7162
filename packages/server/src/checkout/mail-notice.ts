import { NETWORKS } from '@florin/contract/money';
import { NETWORK_NAMES, tokensText } from '@florin/pages';
import { type NewMail, NOTICE_KINDS, type PaymentNotice, queueMail } from '../mail/index.ts';
import type { PaymentDeps } from '../payments/index.ts';
import { currentOption, type PaymentView, readPayment } from '../payments/reads/index.ts';
import type { Job, JobOutcome, JobRun } from '../platform/jobs/index.ts';
import { getMerchant } from '../stores/index.ts';
import { encodeId, merchantTime } from '../tenancy/index.ts';
import { purchaseRows } from './mail-receipt.ts';
import { findPayerPage } from './payer-page.ts';

/** Handles `PAYMENT_NOTICE_JOB`: mails what is not right about the money of a payment, unless that is over by now. */
export async function mailNotice(deps: PaymentDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const { merchantId, payload } = job;
  const kind = NOTICE_KINDS.find((known) => known === payload.kind);
  const view = await readPayment(deps.db, merchantId, String(payload.paymentId));
  const { payment } = view;
  const merchant = await getMerchant(deps.db, merchantId);
  const page = await findPayerPage(deps.db, payment);
  const { payer_email: to, fixed_network: fixed } = payment;
  const network = NETWORKS.find((known) => known === (payload.network ?? fixed));
  if (kind === undefined || to === null || page === undefined) return 'done';
  const time = merchantTime(deps, merchant);
  if (!isStillSo(kind, view, { isSuspended: merchant.suspendedAt !== null, now: time.seconds }))
    return 'done';
  const amount = String(payload.amount);
  const about = encodeId('payment', payment.payment_id);
  const missing = missingOf(view);
  const mail: NewMail = {
    kind,
    about,
    cause: `${about} ${String(payload.cause)}`,
    to,
    language: payment.payer_language,
    values: { amount, missing, token: askedOf(view) },
    rows: {
      amount,
      ...(kind === 'payment_underpaid' && { missing }),
      ...purchaseRows(page),
      ...(network !== undefined && { network: NETWORK_NAMES[network] }),
      ...(typeof payload.transaction === 'string' && { transaction: payload.transaction }),
    },
    link: { to: kind === 'payment_underpaid' ? 'pay' : 'payment', path: page.path },
  };
  await run.finish((tx) => queueMail(tx, { merchantId, storeId: payment.store_id }, time, mail));
  return 'done';
}

/**
 * Money may have been topped up or accepted while the job waited. A suspended merchant asks for none, and nobody does once
 * the time to pay is over: the payment is then about to expire.
 */
function isStillSo(
  kind: PaymentNotice['kind'],
  { payment }: PaymentView,
  { isSuspended, now }: { isSuspended: boolean; now: number },
): boolean {
  if (kind === 'payment_wrong_token') return true;
  if (kind === 'payment_underpaid') {
    const isOver = payment.expires_at !== null && now >= Number(payment.expires_at);
    return payment.status === 'pending' && !isOver && !isSuspended;
  }
  return payment.status === 'expired' || payment.status === 'cancelled';
}

/** The token, and its network: the right token at another option's address is not what was asked for either. */
function askedOf(view: PaymentView): string {
  const option = currentOption(view);
  return option === undefined ? '' : `${option.currency} (${NETWORK_NAMES[option.network]})`;
}

function missingOf(view: PaymentView): string {
  const option = currentOption(view);
  const missing = option === undefined ? 0n : option.pay_amount - view.payment.received_amount;
  return tokensText(missing > 0n ? missing : 0n, option?.currency ?? '');
}
