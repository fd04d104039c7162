import type { Platform } from '../platform/platform.ts';
import type { MerchantMode } from './settings.ts';

/** When a change happens, and in which mode. */
export interface MerchantTime {
  livemode: boolean;
  /** The merchant's clock: real time, and for a sandbox merchant what it was moved ahead. Unix seconds. */
  seconds: number;
  /** Real time in Unix milliseconds. */
  realMs: number;
}

export function merchantTime(
  { clock }: Pick<Platform, 'clock'>,
  merchant: { mode: MerchantMode; clockOffset: number },
): MerchantTime {
  const realMs = clock.nowMs();
  return {
    livemode: merchant.mode === 'live',
    seconds: Math.floor(realMs / 1000) + merchant.clockOffset,
    realMs,
  };
}
