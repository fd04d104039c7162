import type { ChainRegistry } from '../chains/index.ts';
import type { Platform } from '../platform/platform.ts';
import type { Rates } from '../rates/index.ts';
import { type MerchantTime, merchantTime } from '../tenancy/index.ts';
import { type MerchantMode, readSettings } from '../tenancy/settings/index.ts';
import type { Screen } from '../transfers/recipients/index.ts';
import { PAYMENT_SETTINGS, parseOption } from './settings.ts';

export interface PaymentDeps extends Platform {
  chains: ChainRegistry;
  screen: Screen;
  rates: Pick<Rates, 'quote'>;
}

export interface MerchantRef {
  merchantId: string;
  mode: MerchantMode;
  clockOffset: number;
}

/** `tokens` are those that can be paid in: of the store's choice, what this installation has a node for. */
export async function paymentSettings(
  deps: Pick<PaymentDeps, 'db' | 'chains'>,
  merchant: { merchantId: string; mode: MerchantMode },
) {
  const settings = await readSettings(deps.db, merchant, PAYMENT_SETTINGS);
  const tokens: string[] = [];
  for (const text of settings.tokens) {
    const option = parseOption(text);
    if (option !== undefined && (await deps.chains.takes(merchant, option))) tokens.push(text);
  }
  return { ...settings, tokens };
}
export type PaymentSettings = Awaited<ReturnType<typeof paymentSettings>>;

/** Inputs of every change of a payment, read before its transaction begins. */
export interface PaymentContext {
  settings: PaymentSettings;
  time: MerchantTime;
}

export async function paymentContext(
  deps: Pick<PaymentDeps, 'db' | 'clock' | 'chains'>,
  merchant: MerchantRef,
): Promise<PaymentContext> {
  return { settings: await paymentSettings(deps, merchant), time: merchantTime(deps, merchant) };
}
