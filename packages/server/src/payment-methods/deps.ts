import type { ChainRegistry } from '../chains/index.ts';
import type { Db } from '../platform/db/index.ts';
import type { Platform } from '../platform/platform.ts';
import type { Merchant } from '../stores/index.ts';
import type { PaymentMethodRow } from './queries.ts';

/** A merchant as operations need it. */
export type MerchantRef = Pick<Merchant, 'merchantId' | 'mode' | 'clockOffset'>;

/**
 * Computes the next amount that each payment method has to pay, in units of its token, by payment method id: its next
 * open or due invoice. Methods without one are absent. `subscriptions` provides the function.
 */
export type ChargeNeeds = (
  db: Db,
  merchant: MerchantRef,
  methods: readonly PaymentMethodRow[],
) => Promise<ReadonlyMap<string, bigint>>;

export interface PaymentMethodDeps extends Platform {
  chains: ChainRegistry;
  chargeNeeds: ChargeNeeds;
}
