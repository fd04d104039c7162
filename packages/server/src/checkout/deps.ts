import type { ChainRegistry } from '../chains/index.ts';
import { type Occasion, occasionOf } from '../platform/occasion.ts';
import type { Platform } from '../platform/platform.ts';
import { type MerchantMode, readSettings } from '../platform/settings.ts';
import type { Rates } from '../rates/index.ts';
import type { Screen } from '../transfers/index.ts';
import { CHECKOUT_SETTINGS } from './settings.ts';

export interface CheckoutDeps extends Platform {
  chains: ChainRegistry;
  screen: Screen;
  rates: Pick<Rates, 'quote'>;
}

export interface MerchantRef {
  merchantId: string;
  mode: MerchantMode;
  clockOffset: number;
}

export async function checkoutSettings(
  deps: Pick<CheckoutDeps, 'db'>,
  merchant: { merchantId: string; mode: MerchantMode },
) {
  return await readSettings(deps.db, merchant, CHECKOUT_SETTINGS);
}
export type CheckoutSettings = Awaited<ReturnType<typeof checkoutSettings>>;

/** What a change of a payment has to know, read before its transaction begins. */
export interface CheckoutContext {
  settings: CheckoutSettings;
  occasion: Occasion;
}

export async function checkoutContext(
  deps: Pick<CheckoutDeps, 'db' | 'clock'>,
  merchant: MerchantRef,
): Promise<CheckoutContext> {
  return { settings: await checkoutSettings(deps, merchant), occasion: occasionOf(deps, merchant) };
}
