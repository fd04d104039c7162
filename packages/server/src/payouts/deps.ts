import type { ChainRegistry } from '../chains/index.ts';
import type { Caller } from '../platform/http/index.ts';
import type { Platform } from '../platform/platform.ts';
import { type MerchantMode, readSettings } from '../platform/settings.ts';
import type { Screen } from '../transfers/index.ts';
import { PAYOUT_SETTINGS } from './settings.ts';

export interface PayoutDeps extends Platform {
  chains: ChainRegistry;
  screen: Screen;
}

/** When a change happens, and in which mode. */
export interface Occasion {
  livemode: boolean;
  /** The merchant's clock: real time, and for a sandbox merchant what it was moved ahead. Unix seconds. */
  seconds: number;
  /** Real time in Unix milliseconds. */
  realMs: number;
}

export function occasionOf(deps: Platform, merchant: { mode: MerchantMode; clockOffset: number }): Occasion {
  const realMs = deps.clock.nowMs();
  return {
    livemode: merchant.mode === 'live',
    seconds: Math.floor(realMs / 1000) + merchant.clockOffset,
    realMs,
  };
}

export async function payoutSettings(deps: PayoutDeps, merchant: { merchantId: string; mode: MerchantMode }) {
  return await readSettings(deps.db, merchant, PAYOUT_SETTINGS);
}
export type PayoutSettings = Awaited<ReturnType<typeof payoutSettings>>;

/** Who acts on a batch: a key's caller, or the operator. */
export type Actor = Pick<Caller, 'merchantId' | 'mode' | 'clockOffset'>;
