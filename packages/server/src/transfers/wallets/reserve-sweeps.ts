import { type Chain, depositIndexOf, type Precheck } from '../../chains/port/index.ts';
import { newId } from '../../platform/db/ids/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import { crashPoint } from '../../platform/jobs/index.ts';
import { isTankHeld } from '../attempts/blocked-attempts.ts';
import { isDeploying, reserveMovement } from '../attempts/movements.ts';
import { nextSweepStep, type WaitReason } from '../attempts/readiness.ts';
import { numberAttempts, type Reserved } from '../attempts/reserve-attempts.ts';
import { assertSameHistory } from '../history/history.ts';
import { insertAttempts, lockQueued, TANK_KEY_REF, type TransferRow } from '../queries.ts';
import type { SendContext } from '../send-context.ts';
import { planAttempts } from '../states.ts';
import { tankOf } from './prepare-wallet.ts';
import { assertPresentWallet } from './present-wallet.ts';
import { readTankSpending } from './tank-budget.ts';
import { lockWallet, readWallet, type Wallet } from './wallet-queries.ts';

/** Whether these transfers leave from deposit addresses that another wallet empties. */
export const isSweptByTank = ({ capabilities }: Chain, { key_ref: keyRef }: TransferRow) =>
  capabilities.sweepsPerTx > 0 && depositIndexOf(keyRef) !== null;

/**
 * Makes attempts for queued sweeps, many deposit addresses in each, which the gas tank sends. Whether the addresses hold the
 * coins was read when the sweeps were ordered; one that no longer does fails alone.
 *
 * @throws WalletBehind, HistoryChanged, FeeCeilingReached
 */
export async function reserveSweeps(context: SendContext, queued: readonly TransferRow[]): Promise<Reserved> {
  const { chain, run, merchant, groupIds, nowSeconds } = context;
  const [first] = queued;
  if (first === undefined) return { reached: 'all' };
  const { network, currency } = first;
  const { merchantId } = merchant;
  const sizes = planAttempts(queued, chain.capabilities.sweepsPerTx).map((transfers) => transfers.length);
  const precheck = await chain.precheck({ kind: 'sweeps', asset: currency, transactions: sizes });
  const tank = precheck === null ? await readWallet(chain, TANK_KEY_REF) : tankOf(network, precheck);
  crashPoint('reserve.before');
  return await run.step(async (tx): Promise<Reserved> => {
    context.history.name = await assertSameHistory(tx);
    await assertPresentWallet(tx, context);
    const locked = await lockQueued(tx, merchantId, groupIds, nowSeconds);
    if (locked.length === 0) return { reached: 'waiting' };
    const next = await lockWallet(tx, tank);
    const waitsFor = precheck && (await prepareTank(tx, context, { tank, precheck, of: first }));
    if (waitsFor != null) return { reached: 'waiting', waitsFor };
    const attempts = planAttempts(locked, chain.capabilities.sweepsPerTx).map((transfers) => ({
      attemptId: newId(),
      transfers,
      sentBy: TANK_KEY_REF,
      ...(precheck?.paidByTank && { paidBy: { tank: tank.sender, openings: 0n } }),
    }));
    await insertAttempts(tx, await numberAttempts(tx, tank, { next, attempts }), nowSeconds);
    crashPoint('reserve.before-commit');
    return { reached: locked.length < queued.length ? 'waiting' : 'all' };
  });
}

/** What the network wants of the gas tank beforehand. @returns what the sweeps wait for */
async function prepareTank(
  tx: Tx,
  { merchant: { merchantId }, chain, nowSeconds }: SendContext,
  { tank, precheck, of }: { tank: Wallet; precheck: Precheck; of: TransferRow },
): Promise<WaitReason | undefined> {
  const step = nextSweepStep({
    precheck,
    isDeploying: await isDeploying(tx, merchantId, tank),
    tankSpending: await readTankSpending(tx, chain, { tank, precheck, nowSeconds }),
  });
  if (step.do === 'wait') return step.reason;
  if (step.do === 'send') return undefined;
  if (await isTankHeld(tx, { merchantId, network: tank.network, nowSeconds })) return 'top_up_refused';
  const { movement } = step;
  const order = {
    merchantId,
    groupId: of.group_id,
    currency: of.currency,
    keyRef: TANK_KEY_REF,
    wallet: tank,
    movement,
  };
  await reserveMovement(tx, order, nowSeconds);
  return 'wait_deploy';
}
