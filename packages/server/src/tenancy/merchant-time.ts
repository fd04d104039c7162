import type { Platform } from '../platform/platform.ts';
import type { MerchantMode } from './settings/settings.ts';

/** The time of a change, and the merchant's mode. */
export interface MerchantTime {
  livemode: boolean;
  /** The merchant's clock, Unix seconds: real time plus, for a sandbox merchant, the offset of its clock. */
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
