import type { Network } from '@florin/contract/money';
import { WEI_PER_UNIT } from '../../chains/port/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import { sumTopUps } from '../attempts/movements.ts';

interface NativeSettings {
  gasCeiling: bigint;
  trxCeiling: bigint;
  trxPerDay: bigint;
}

/** The most that a wallet may be given for fees, in the smallest unit of the network's coin. */
export const nativeCeiling = ({ gasCeiling, trxCeiling }: NativeSettings, network: Network): bigint =>
  network === 'trc20' ? trxCeiling : gasCeiling * WEI_PER_UNIT;

/**
 * What is left of a merchant's day of top-ups; undefined: there is no such limit. Sums of all wallets of a merchant: under the lock of the
 * tank, which they share.
 */
export async function readDayLeft(
  tx: Tx,
  { trxPerDay }: NativeSettings,
  given: { merchantId: string; network: Network; nowSeconds: number },
): Promise<bigint | undefined> {
  return given.network === 'trc20' ? trxPerDay - (await sumTopUps(tx, given)) : undefined;
}
