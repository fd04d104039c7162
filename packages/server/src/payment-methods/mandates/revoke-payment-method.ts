import { recordEvent } from '../../events/index.ts';
import { type Tx, transact } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { enqueue } from '../../platform/jobs/index.ts';
import { type MerchantTime, merchantTime } from '../../tenancy/index.ts';
import { dropActivation, refuseCharges } from '../../transfers/charges/index.ts';
import type { MerchantRef, PaymentMethodDeps } from '../deps.ts';
import {
  getPaymentMethod,
  lockPaymentMethod,
  type PaymentMethodRow,
  updatePaymentMethod,
} from '../queries.ts';
import { changeOf, methodChangedJob } from './read-mandate.ts';

/**
 * Revokes a payment method for good: it is never charged again. A charge that may already be on the chain goes on. The
 * allowance of the payer's wallet stays, because only the payer can withdraw it.
 *
 * @throws Fail `resource_not_found`; `invalid_request` if it is already revoked
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
    const after = await writeRevoked(tx, before, now);
    // After the charges, which a sender locks first.
    await dropActivation(tx, merchantId, paymentMethodId, now);
    return after;
  });
}

/** Revokes a locked method, and fails its charges that were not sent. */
export async function writeRevoked(
  tx: Tx,
  before: PaymentMethodRow,
  now: MerchantTime,
  isUnapproved = false,
): Promise<PaymentMethodRow> {
  const after = await updatePaymentMethod(tx, before, { status: 'revoked', next_read_at: null });
  const {
    merchant_id: merchantId,
    network,
    wallet_address: address,
    currency,
    mandate_id: mandateId,
  } = before;
  await refuseCharges(tx, merchantId, { network, address, currency, mandateId, isUnapproved }, now);
  await recordEvent(tx, changeOf(before, after, now));
  await enqueue(tx, [methodChangedJob(after, now.realMs)]);
  return after;
}
