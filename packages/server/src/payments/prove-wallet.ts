import { transact } from '../platform/db/index.ts';
import type { MerchantRef, PaymentDeps } from './deps.ts';
import { lockPayment, updatePayment } from './reads/queries.ts';

/** Records the payer's proven wallet. The first one of a payment stays. */
export async function proveWallet(
  deps: Pick<PaymentDeps, 'db'>,
  { merchantId }: Pick<MerchantRef, 'merchantId'>,
  paymentId: string,
  address: string,
): Promise<void> {
  await transact(deps.db, async (tx) => {
    const { payment } = await lockPayment(tx, merchantId, paymentId);
    if (payment.wallet_address === null) await updatePayment(tx, payment, { wallet_address: address });
  });
}
