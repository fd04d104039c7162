import { ChainUnavailable } from '../chains/index.ts';
import { transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { enqueue } from '../platform/jobs/index.ts';
import { merchantTime } from '../tenancy/index.ts';
import type { MerchantRef, PaymentDeps } from './deps.ts';
import { expireJob } from './jobs.ts';
import { lockPayment, readPayment, updatePayment } from './queries.ts';
import { readNow } from './scan.ts';

/**
 * The time to pay one payment is over, for whoever tries a sandbox page; the merchant's clock stays.
 *
 * @throws Fail `invalid_request` for one that never expires; `service_unavailable` while a network is away
 */
export async function endPaymentNow(
  deps: PaymentDeps,
  merchant: MerchantRef,
  paymentId: string,
): Promise<void> {
  const { merchantId } = merchant;
  await readNetworks(deps, merchant, paymentId);
  const { seconds, realMs } = merchantTime(deps, merchant);
  await transact(deps.db, async (tx) => {
    const { payment, transactions } = await lockPayment(tx, merchantId, paymentId);
    if (payment.expires_at === null) throw new Fail('invalid_request', 'This payment never expires.');
    if (payment.status !== 'pending' && payment.status !== 'processing') return;
    // What was sent is in time; what is sent next is late, in this second already where nothing was sent in it.
    const expires_at = Math.max(seconds - 1, ...transactions.map((t) => Number(t.seen_at)));
    if (Number(payment.expires_at) > expires_at) await updatePayment(tx, payment, { expires_at });
    await enqueue(tx, [expireJob(merchantId, paymentId, realMs)]);
  });
}

/** What was sent in this second would be late once it is seen, so it is seen first. */
async function readNetworks(deps: PaymentDeps, merchant: MerchantRef, paymentId: string): Promise<void> {
  const { options } = await readPayment(deps.db, merchant.merchantId, paymentId);
  try {
    for (const network of new Set(options.map((option) => option.network)))
      await readNow(deps, merchant, network);
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    throw new Fail('service_unavailable', {
      message: 'A network is away, so that nobody knows what was sent in time.',
      retryAfterSeconds: 1,
      cause: error,
    });
  }
}
