import type { Asset } from '@florin/contract/money';
import type { ChargesPrecheck } from '../../chains/port/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import { readSettings } from '../../tenancy/settings/index.ts';
import { isTankHeld } from '../attempts/blocked-attempts.ts';
import type { ChargeNeeds } from '../attempts/charge-readiness.ts';
import {
  isOpeningAccount,
  NO_TANK_USE,
  readTankUse,
  readUnderWay,
  type TankUse,
} from '../attempts/movements.ts';
import { wait } from '../attempts/readiness.ts';
import { TRANSFER_SETTINGS } from '../pauses.ts';
import type { StepContext } from '../send-context.ts';
import { nativeCeiling, readDayLeft } from '../wallets/native-limits.ts';
import { tankOf } from '../wallets/prepare-wallet.ts';
import { lockWallet, type Wallet } from '../wallets/wallet-queries.ts';

interface Asked {
  hot: Wallet;
  precheck: ChargesPrecheck;
  currency: Asset;
}

/**
 * Decides the next step of charges or of an activation under the lock of the hot wallet, and of the gas tank where that has
 * to move something: what others have ordered meanwhile is counted.
 *
 * @throws WalletBehind
 */
export async function decideUnderLocks<S extends { do: string; by?: 'hot' | 'tank' }>(
  tx: Tx,
  context: StepContext,
  { hot, precheck, currency }: Asked,
  decide: (needs: ChargeNeeds) => S,
): Promise<S | ReturnType<typeof wait>> {
  const { merchantId } = context.merchant;
  const tank = tankOf(hot.network, precheck);
  await lockWallet(tx, hot);
  const settings = await readSettings(tx, context.merchant, TRANSFER_SETTINGS);
  const { network } = hot;
  const asRead = { ...hot, asOf: precheck.asOf };
  const readNeeds = async (use: TankUse, dayLeft?: bigint): Promise<ChargeNeeds> => ({
    precheck,
    underWay: {
      ...(await readUnderWay(tx, { merchantId, currency, hot: asRead, tank })),
      isOpening: await isOpeningAccount(tx, merchantId, tank),
    },
    ...use,
    limits: { gasCeiling: nativeCeiling(settings, network), dayLeft },
  });
  // As in `prepare-wallet.ts`: without the tank's lock its spending counts as 0, which can only make the answer too hopeful.
  const step = decide(await readNeeds(NO_TANK_USE));
  if (step.by !== 'tank') return step;
  await lockWallet(tx, tank);
  const { nowSeconds } = context;
  if (await isTankHeld(tx, { merchantId, network, nowSeconds })) return wait('top_up_refused');
  const dayLeft = await readDayLeft(tx, settings, { merchantId, network, nowSeconds });
  return decide(await readNeeds(await readTankUse(tx, tank, precheck.movementFees.activate), dayLeft));
}
