import type { Asset, Network } from '@florin/contract/money';
import { WEI_PER_UNIT } from '../../chains/port/index.ts';
import { newId } from '../../platform/db/ids/index.ts';
import { transact } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { enqueue } from '../../platform/jobs/index.ts';
import type { Merchant } from '../../stores/index.ts';
import { merchantTime } from '../../tenancy/index.ts';
import { readSettings } from '../../tenancy/settings/index.ts';
import { readTankUse, readUnderWay, reserveMovement } from '../attempts/movements.ts';
import { assertSameHistory } from '../history/history.ts';
import { TRANSFER_SETTINGS } from '../pauses.ts';
import { HOT_KEY_REF, TANK_KEY_REF } from '../queries.ts';
import { SEND_JOB } from '../request-transfers.ts';
import type { TransferDeps } from '../send-context.ts';
import { assertPresentWallet } from './present-wallet.ts';
import { lockWallet, readWallet } from './wallet-queries.ts';

/** Room for the fee of the top-up to rise. */
const FEE_FACTOR = 4n;
const CURRENCY: Asset = 'USDT';
const refuse = (message: string) => new Fail('invalid_request', { message, param: 'amount' });

/**
 * Orders ether for a merchant's hot wallet out of the gas tank, as an operator wants it.
 *
 * @param amount in wei
 * @returns the id of its group
 * @throws Fail `invalid_request` above `transfers.gas_ceiling` or what the signer's policy has left, or where the tank does not hold it
 */
export async function orderTopUp(
  deps: TransferDeps,
  merchant: Merchant,
  { network, amount }: { network: Network; amount: bigint },
): Promise<string> {
  const { merchantId } = merchant;
  const chain = deps.chains.of(merchant, network);
  const hot = await readWallet(chain, HOT_KEY_REF);
  const tank = await readWallet(chain, TANK_KEY_REF);
  if (tank.chainNext === null || chain.capabilities.sweepsPerTx === 0)
    throw refuse(`No gas tank fills wallets on ${network}.`);
  const held = await chain.nativeBalance(tank.sender);
  const there = await chain.nativeBalance(hot.sender);
  const { native: fee } = await chain.estimateFee('gas', 1);
  const limits = await deps.chains.holder(merchant)?.limits();
  const groupId = newId();
  const { seconds, realMs } = merchantTime(deps, merchant);
  await transact(deps.db, async (tx) => {
    await assertSameHistory(tx);
    await assertPresentWallet(tx, { merchant, chain });
    const { gasCeiling } = await readSettings(tx, merchant, TRANSFER_SETTINGS);
    // The hot wallet first, as payments that order ether do: of what others order meanwhile nothing is missed.
    await lockWallet(tx, hot);
    await lockWallet(tx, tank);
    // An attempt has a token; ether has none, so it is the first one.
    const { gas } = await readUnderWay(tx, { merchantId, currency: CURRENCY, hot, tank });
    if (there + gas + amount > gasCeiling * WEI_PER_UNIT)
      throw refuse(
        'With what is on its way the wallet would hold more than transfers.gas_ceiling allows. Nothing was ordered.',
      );
    const { tankSpending, topUps } = await readTankUse(tx, tank, fee * FEE_FACTOR);
    if (held - tankSpending < amount + fee * FEE_FACTOR)
      throw refuse('The gas tank does not hold so much. Nothing was ordered.');
    if (limits !== undefined && (amount > limits.gasTopUp || amount > limits.gasTopUpsLeft - topUps))
      throw refuse(
        "With what is ordered already the signer's policy allows less (gas_top_up, gas_top_ups_per_day). Nothing was ordered.",
      );
    const movement = { kind: 'gas', amount } as const;
    const order = { merchantId, groupId, currency: CURRENCY, keyRef: TANK_KEY_REF, wallet: tank, movement };
    await reserveMovement(tx, order, seconds);
    const job = { merchantId, kind: SEND_JOB, uniqueKey: groupId, dueAtMs: realMs, payload: { groupId } };
    await enqueue(tx, [{ ...job, followsClock: true }]);
  });
  return groupId;
}
