import { recordEvent } from '../events/index.ts';
import { transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { enqueue } from '../platform/jobs/index.ts';
import { merchantTime } from '../tenancy/index.ts';
import { refuseCharges } from '../transfers/index.ts';
import type { MerchantRef, PaymentMethodDeps } from './deps.ts';
import {
  getPaymentMethod,
  lockPaymentMethod,
  type PaymentMethodRow,
  updatePaymentMethod,
} from './queries.ts';
import { changeOf, newsJob } from './read-mandate.ts';

/**
 * Ends a payment method for good: nothing is charged to it any more. A charge that may be on the chain is kept, and so is
 * what the payer's wallet allows, which only the payer can take back.
 *
 * @throws Fail `resource_not_found`; `invalid_request` for one that is revoked
 */
export async function revokePaymentMethod(
  deps: PaymentMethodDeps,
  merchant: MerchantRef,
  id: string,
): Promise<PaymentMethodRow> {
  const { merchantId } = merchant;
  const { payment_method_id: paymentMethodId } = await getPaymentMethod(deps.db, merchantId, id);
  const now = merchantTime(deps, merchant);
  return await transact(deps.db, async (tx) => {
    const before = await lockPaymentMethod(tx, merchantId, paymentMethodId);
    if (before.status === 'revoked') throw new Fail('invalid_request', 'This payment method is revoked.');
    const after = await updatePaymentMethod(tx, before, { status: 'revoked', next_read_at: null });
    const { network, wallet_address: address, currency, mandate_id: mandateId } = before;
    await refuseCharges(tx, merchantId, { network, address, currency, mandateId }, now);
    await recordEvent(tx, changeOf(before, after, now));
    await enqueue(tx, [newsJob(after, now.realMs)]);
    return after;
  });
}
