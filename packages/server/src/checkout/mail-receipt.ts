import { formatTokens } from '@florin/contract/money';
import { NETWORK_NAMES } from '@florin/pages';
import { queueMail } from '../mail/index.ts';
import type { PaymentDeps } from '../payments/index.ts';
import { readPayment } from '../payments/reads/index.ts';
import type { Job, JobOutcome, JobRun } from '../platform/jobs/index.ts';
import { getMerchant } from '../stores/index.ts';
import { encodeId, merchantTime } from '../tenancy/index.ts';
import { findPayerPage } from './payer-page.ts';

/** Handles `RECEIPT_JOB`: mails the receipt of a completed payment. */
export async function mailReceipt(deps: PaymentDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const { merchantId } = job;
  const { payment, transactions } = await readPayment(deps.db, merchantId, String(job.payload.paymentId));
  const page = await findPayerPage(deps.db, payment);
  const { payer_email: to, fixed_network: network, fixed_currency: token } = payment;
  if (to === null || page === undefined || network === null || token === null) return 'done';
  const counted = transactions.filter((t) => t.kind === 'counted' && t.status === 'final');
  const amount = `${formatTokens(payment.received_amount)} ${token}`;
  const time = merchantTime(deps, await getMerchant(deps.db, merchantId));
  await run.finish(async (tx) => {
    await queueMail(tx, { merchantId, storeId: payment.store_id }, time, {
      kind: 'receipt',
      about: encodeId('payment', payment.payment_id),
      to,
      language: payment.payer_language,
      values: { amount },
      rows: {
        amount,
        ...(page.description !== null && { description: page.description }),
        ...(page.orderId !== null && { order: page.orderId }),
        network: NETWORK_NAMES[network],
        ...(counted.length > 0 && { transaction: counted.map((t) => t.tx_id).join(' ') }),
      },
      link: { to: 'payment', path: page.path },
    });
  });
  return 'done';
}
