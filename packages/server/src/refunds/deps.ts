import type { ChainRegistry } from '../chains/index.ts';
import type { MerchantRef } from '../payments/index.ts';
import { PAYOUT_SETTINGS } from '../payouts/index.ts';
import type { Platform } from '../platform/platform.ts';
import { readSettings } from '../tenancy/settings/index.ts';
import type { FindUnpayable, Screen } from '../transfers/recipients/index.ts';
import { REFUND_SETTINGS } from './settings.ts';

export interface RefundDeps extends Platform {
  chains: ChainRegistry;
  screen: Screen;
  findUnpayable: FindUnpayable;
}

/** Recipients follow the setting of payouts. */
const SETTINGS = { ...REFUND_SETTINGS, allowProgramOwned: PAYOUT_SETTINGS.allowProgramOwned };

export async function refundSettings(
  deps: Pick<RefundDeps, 'db'>,
  merchant: Omit<MerchantRef, 'clockOffset'>,
) {
  return await readSettings(deps.db, merchant, SETTINGS);
}
export type RefundSettings = Awaited<ReturnType<typeof refundSettings>>;
