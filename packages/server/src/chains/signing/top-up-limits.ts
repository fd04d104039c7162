import { SignerUnavailable } from '../port/port-errors.ts';
import type { Precheck } from '../port/port-precheck.ts';
import type { TopUpLimits } from '../port/wallet-holder.ts';

type TankLimits = Pick<Precheck['tank'], 'topUpMax' | 'topUpsLeft'>;

/** What the signer's policy lets the gas tank give, as far as the holder of its key has one. */
export const tankLimitsOf = (limits: TopUpLimits | undefined): TankLimits =>
  limits === undefined ? {} : { topUpMax: limits.gasTopUp, topUpsLeft: limits.gasTopUpsLeft };

/** Without an answer of the signer the limit is 0: an order stays after the outage, and the signer never signs one above its limits. */
export async function readTankLimits(limits: Promise<TopUpLimits | undefined>): Promise<TankLimits> {
  try {
    return tankLimitsOf(await limits);
  } catch (error) {
    if (error instanceof SignerUnavailable) return { topUpMax: 0n };
    throw error;
  }
}
