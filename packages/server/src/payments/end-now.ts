import { Fail } from '../platform/fail.ts';
import { enqueue } from '../platform/jobs/index.ts';
import { occasionOf } from '../platform/occasion.ts';
import { transact } from '../platform/transact.ts';
import type { MerchantRef, PaymentDeps } from './deps.ts';
import { expireJob } from './jobs.ts';
import { lockPayment, updatePayment } from './queries.ts';

/**
 * The time to pay one payment is over, for whoever tries a sandbox page; the merchant's clock stays.
 *
 * @throws Fail `invalid_request` for one that never expires
 */
export async function endPaymentNow(
  deps: Pick<PaymentDeps, 'db' | 'clock'>,
  merchant: MerchantRef,
  paymentId: string,
): Promise<void> {
  const { merchantId } = merchant;
  const { seconds, realMs } = occasionOf(deps, merchant);
  await transact(deps.db, async (tx) => {
    const { payment, transactions } = await lockPayment(tx, merchantId, paymentId);
    if (payment.expires_at === null) throw new Fail('invalid_request', 'This payment never expires.');
    if (payment.status !== 'pending' && payment.status !== 'processing') return;
    // What was sent is in time, what is sent next is late, in this second already.
    const expires_at = Math.max(seconds - 1, ...transactions.map((t) => Number(t.seen_at)));
    if (Number(payment.expires_at) > expires_at) await updatePayment(tx, payment, { expires_at });
    await enqueue(tx, [expireJob(merchantId, paymentId, realMs)]);
  });
}
