import type { ChainRegistry } from '../chains/index.ts';
import type { Caller } from '../platform/http/index.ts';
import type { Platform } from '../platform/platform.ts';
import { type MerchantMode, readSettings } from '../tenancy/settings/index.ts';
import type { FindUnpayable, Screen } from '../transfers/recipients/index.ts';
import { PAYOUT_SETTINGS } from './settings.ts';

export interface PayoutDeps extends Platform {
  chains: ChainRegistry;
  screen: Screen;
  findUnpayable: FindUnpayable;
}

export async function payoutSettings(deps: PayoutDeps, merchant: { merchantId: string; mode: MerchantMode }) {
  return await readSettings(deps.db, merchant, PAYOUT_SETTINGS);
}
export type PayoutSettings = Awaited<ReturnType<typeof payoutSettings>>;

/** The caller of a key, or the operator. */
export type Actor = Pick<Caller, 'merchantId' | 'mode' | 'clockOffset'>;
