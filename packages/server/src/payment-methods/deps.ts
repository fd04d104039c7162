import type { ChainRegistry } from '../chains/index.ts';
import type { Db } from '../platform/db/index.ts';
import type { Platform } from '../platform/platform.ts';
import type { Merchant } from '../stores/index.ts';
import type { PaymentMethodRow } from './queries.ts';

/** A merchant as operations need it. */
export type MerchantRef = Pick<Merchant, 'merchantId' | 'mode' | 'clockOffset'>;

/**
 * What each of these payment methods has to pay next, in units of its token, by its id: its next open or due invoice. One
 * without any is absent. Given by whoever bills.
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
