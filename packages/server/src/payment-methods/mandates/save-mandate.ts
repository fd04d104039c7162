import type { Network } from '@florin/contract/money';
import type { Mandate, SignedPermit } from '../../chains/port/index.ts';
import { newId } from '../../platform/db/ids/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import { enqueue } from '../../platform/jobs/index.ts';
import type { MerchantTime } from '../../tenancy/index.ts';
import { requestActivation } from '../../transfers/charges/index.ts';
import { findByMandate, insertPaymentMethod, type PaymentMethodRow } from '../queries.ts';
import type { ShownMandate } from '../states.ts';
import { watchJob } from './watch-job.ts';

export interface GivenMandate {
  merchantId: string;
  storeId: string;
  customerId: string;
  network: Network;
  mandate: Mandate;
  /** Its wallet's state; in a final block, where the mandate is on the chain already. */
  reading: ShownMandate;
  /** The payer's, where we bring the mandate to the chain; absent: it is there. */
  signature?: string;
  /** The approval, where the payer has signed that too. */
  permit?: SignedPermit;
}

/**
 * Stores a mandate that was read from the chain, or that its payer has signed: then it is brought there. Repeated calls
 * store it once. The health watch reads it right away to check that its wallet can pay the next amount; each charge checks
 * it again.
 */
export async function saveMandate(
  tx: Tx,
  { merchantId, storeId, customerId, network, mandate, reading, signature, permit }: GivenMandate,
  now: Pick<MerchantTime, 'seconds' | 'realMs'>,
): Promise<PaymentMethodRow> {
  const row = await insertPaymentMethod(tx, {
    merchant_id: merchantId,
    payment_method_id: newId(),
    store_id: storeId,
    customer_id: customerId,
    currency: mandate.asset,
    network,
    wallet_address: mandate.payer,
    recipient: mandate.recipient,
    mandate_id: mandate.mandateId,
    salt: mandate.salt,
    cap_amount: mandate.cap,
    subscriptions: mandate.subscriptions ?? null,
    interval: mandate.period,
    starts_at: mandate.startsAt,
    ends_at: mandate.endsAt,
    status: 'active',
    balance: reading.balance,
    allowance: reading.allowance,
    read_at: now.seconds,
    next_read_at: now.seconds,
    created_at: now.seconds,
    activated_at: signature === undefined ? now.seconds : null,
  });
  if (row !== undefined) {
    await enqueue(tx, [watchJob(merchantId, network, now.realMs)]);
    const signed = { activationId: row.payment_method_id, network, mandate, ...(permit && { permit }) };
    if (signature !== undefined) await requestActivation(tx, merchantId, { ...signed, signature }, now);
    return row;
  }
  const known = await findByMandate(tx, merchantId, { network, mandateId: mandate.mandateId });
  if (known === undefined) throw new Error(`mandate ${mandate.mandateId} is neither new nor known`);
  return known;
}
