import { type Chain, NATIVE_COINS, type Precheck } from '../../chains/port/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import { readSettings } from '../../tenancy/settings/index.ts';
import { readTankUse, sumOpenings, sumPaidByTank } from '../attempts/movements.ts';
import { dearestPaid, type TankBudget } from '../attempts/paid-by-tank.ts';
import { TRANSFER_SETTINGS } from '../pauses.ts';
import type { SendContext } from '../send-context.ts';
import { dearestOfTank, tankOf } from './prepare-wallet.ts';
import { lockWallet, type Wallet } from './wallet-queries.ts';

const SETTING_UNITS = 1_000_000n;

/**
 * What a tank that pays for all transactions has left for a merchant, under its lock: all merchants share it. It is locked before any
 * other wallet.
 *
 * @returns undefined where each wallet pays its own fees
 */
export async function lockTankBudget(
  tx: Tx,
  { merchant, chain, nowSeconds }: SendContext,
  precheck: Precheck | null,
): Promise<TankBudget | undefined> {
  if (precheck === null || precheck.paidByTank === null) return undefined;
  const { network } = chain;
  const tank = tankOf(network, precheck);
  await lockWallet(tx, tank);
  const { openingCeiling } = await readSettings(tx, merchant, TRANSFER_SETTINGS);
  const { merchantId } = merchant;
  const ceiling = (openingCeiling * NATIVE_COINS[network].units) / SETTING_UNITS;
  return {
    native: precheck.tank.native,
    spending: await readTankSpending(tx, chain, { tank, precheck, nowSeconds }),
    openings: ceiling - (await sumOpenings(tx, { merchantId, network, nowSeconds })),
  };
}

/** What transactions on their way can still take of the tank. */
export async function readTankSpending(
  tx: Tx,
  { capabilities }: Pick<Chain, 'capabilities'>,
  { tank, precheck, nowSeconds }: { tank: Wallet; precheck: Precheck; nowSeconds: number },
): Promise<bigint> {
  if (precheck.paidByTank === null)
    return (await readTankUse(tx, tank, dearestOfTank(precheck))).tankSpending;
  const dearest = dearestPaid(precheck, capabilities.maxItemsPerTx);
  return await sumPaidByTank(tx, tank, { dearest, nowSeconds });
}
