import type { ChainRegistry } from '../chains/index.ts';
import type { Db } from '../platform/db.ts';
import type { Platform } from '../platform/platform.ts';
import type { Merchant } from '../stores/index.ts';

/**
 * What each of these payment methods has to pay next, in units of its token: its next open or due invoice. One without
 * any is absent. Given by whoever bills.
 */
export type ChargeNeeds = (
  db: Db,
  merchantId: string,
  paymentMethodIds: readonly string[],
) => Promise<ReadonlyMap<string, bigint>>;

/** A merchant as operations need it. */
export type MerchantRef = Pick<Merchant, 'merchantId' | 'mode' | 'clockOffset'>;

export interface PaymentMethodDeps extends Platform {
  chains: ChainRegistry;
  chargeNeeds: ChargeNeeds;
}
