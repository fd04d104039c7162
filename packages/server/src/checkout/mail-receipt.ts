import { NETWORK_NAMES, tokensText } from '@florin/pages';
import { queueMail } from '../mail/index.ts';
import type { PaymentDeps } from '../payments/index.ts';
import { currentOption, type PaymentView, readPayment, returnedAmount } from '../payments/reads/index.ts';
import type { Job, JobOutcome, JobRun } from '../platform/jobs/index.ts';
import { getMerchant } from '../stores/index.ts';
import { encodeId, merchantTime } from '../tenancy/index.ts';
import { broughtBy } from './page/view.ts';
import { findPayerPage, type PayerPage } from './payer-page.ts';

/** Handles `RECEIPT_JOB`: mails the receipt of a completed payment. */
export async function mailReceipt(deps: PaymentDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const { merchantId } = job;
  const view = await readPayment(deps.db, merchantId, String(job.payload.paymentId));
  const { payment, transactions } = view;
  const page = await findPayerPage(deps.db, payment);
  const { payer_email: to, fixed_network: network, fixed_currency: token } = payment;
  if (to === null || page === undefined || network === null || token === null) return 'done';
  const counted = transactions.filter((t) => t.kind === 'counted' && t.status === 'final');
  const amount = tokensText(payment.received_amount, token);
  const surplus = surplusOf(view);
  const about = encodeId('payment', payment.payment_id);
  const time = merchantTime(deps, await getMerchant(deps.db, merchantId));
  await run.finish(async (tx) => {
    await queueMail(tx, { merchantId, storeId: payment.store_id }, time, {
      kind: 'receipt',
      about,
      // Whoever pays again gets another receipt, of all that came.
      cause: `${about} ${payment.received_amount}`,
      to,
      language: payment.payer_language,
      values: { amount },
      rows: {
        amount,
        ...(surplus > 0n && { surplus: tokensText(surplus, token) }),
        ...purchaseRows(page),
        network: NETWORK_NAMES[network],
        ...(counted.length > 0 && { transaction: transactionsText(counted) }),
      },
      link: { to: 'payment', path: page.path },
    });
  });
  return 'done';
}

/** The only transaction, or each with what it brought. */
function transactionsText(transfers: PaymentView['transactions']): string {
  const all = broughtBy(transfers);
  return all.length === 1 ? (all[0]?.id ?? '') : all.map(({ id, amount }) => `${id} (${amount})`).join(', ');
}

/** Rows of what was bought, as far as the page has them. */
export const purchaseRows = ({ description, orderId }: PayerPage) => ({
  ...(description !== null && { description }),
  ...(orderId !== null && { order: orderId }),
});

/** What came above the price and was not sent back. */
function surplusOf(view: PaymentView): bigint {
  const { received_amount: received } = view.payment;
  return received - returnedAmount(view) - (currentOption(view)?.pay_amount ?? received);
}
