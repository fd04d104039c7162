import { ChainUnavailable } from '../chains/port/index.ts';
import { transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { enqueue } from '../platform/jobs/index.ts';
import { merchantTime } from '../tenancy/index.ts';
import { scanNow } from './deposits/scan-deposits.ts';
import type { MerchantRef, PaymentDeps } from './deps.ts';
import { expireJob } from './jobs.ts';
import { lockPayment, readPayment, updatePayment } from './reads/queries.ts';

/**
 * Expires one sandbox payment without moving the merchant's clock.
 *
 * @throws Fail `invalid_request` if the payment never expires; `service_unavailable` while a network is unreachable
 */
export async function endPaymentNow(
  deps: PaymentDeps,
  merchant: MerchantRef,
  paymentId: string,
): Promise<void> {
  const { merchantId } = merchant;
  await scanNetworks(deps, merchant, paymentId);
  const { seconds, realMs } = merchantTime(deps, merchant);
  await transact(deps.db, async (tx) => {
    const { payment, transactions } = await lockPayment(tx, merchantId, paymentId);
    if (payment.expires_at === null) throw new Fail('invalid_request', 'This payment never expires.');
    if (payment.status !== 'pending' && payment.status !== 'processing') return;
    // Money sent so far is in time, money sent from now on is late.
    const expires_at = Math.max(seconds - 1, ...transactions.map((t) => Number(t.seen_at)));
    if (Number(payment.expires_at) > expires_at) await updatePayment(tx, payment, { expires_at });
    await enqueue(tx, [expireJob(merchantId, paymentId, realMs)]);
  });
}

/** Scans first: money sent in this second would be late if it were seen after the new expiry. */
async function scanNetworks(deps: PaymentDeps, merchant: MerchantRef, paymentId: string): Promise<void> {
  const { options } = await readPayment(deps.db, merchant.merchantId, paymentId);
  try {
    for (const network of new Set(options.map((option) => option.network)))
      await scanNow(deps, merchant, network);
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    throw new Fail('service_unavailable', {
      message: 'A network of this payment is unreachable. Try again.',
      retryAfterSeconds: 1,
      cause: error,
    });
  }
}
