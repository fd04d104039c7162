import { type Precheck, UnbuildableTransfer, WEI_PER_UNIT } from '../../chains/port/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import { readSettings } from '../../tenancy/settings/index.ts';
import { isBlocked } from '../attempts/blocked-attempts.ts';
import { readUnderWay, reserveMovement, sumTankSpending } from '../attempts/movements.ts';
import {
  nextPaymentStep,
  nextRefuelStep,
  type PaymentNeeds,
  type PaymentStep,
  type WaitReason,
} from '../attempts/readiness.ts';
import { assertSameHistory } from '../history/history.ts';
import { logWaiting } from '../log-waiting.ts';
import { TRANSFER_SETTINGS } from '../pauses.ts';
import { type AttemptRow, HOT_KEY_REF, TANK_KEY_REF, type TransferRow } from '../queries.ts';
import type { SendContext } from '../send-context.ts';
import { planAttempts } from '../states.ts';
import { assertPresentWallet } from './present-wallet.ts';
import { lockWallet, readWalletAt, type Wallet } from './wallet-queries.ts';

/** What the chain says of payments before they take a sequence. */
export interface PaymentPrecheck {
  /** Null where the network wants nothing. */
  precheck: Precheck | null;
  /** Why none of them can be built, whatever is done. */
  fault?: string;
}

/** Read after the sequences of the wallets, and before any lock. @throws FeeCeilingReached, ChainUnavailable */
export async function precheckPayments(
  { chain, isCharge }: SendContext,
  queued: readonly TransferRow[],
): Promise<PaymentPrecheck> {
  const [first] = queued;
  if (first === undefined || isCharge) return { precheck: null };
  const transactions = planAttempts(queued, chain.capabilities.maxItemsPerTx).map((transfers) =>
    transfers.map(itemOf),
  );
  try {
    return { precheck: await chain.precheck({ kind: 'transfers', asset: first.currency, transactions }) };
  } catch (error) {
    if (!(error instanceof UnbuildableTransfer)) throw error;
    return { precheck: null, fault: error.message };
  }
}

const itemOf = ({ transfer_id: itemId, place, address: to, amount }: TransferRow) => ({
  itemId,
  place,
  to,
  amount,
});

/**
 * Reserves the movement that has to come before these payments, under the wallet's lock.
 *
 * @returns what they wait for; undefined where they can be sent
 */
export async function prepareWallet(
  tx: Tx,
  context: SendContext,
  { wallet, precheck, groups }: { wallet: Wallet; precheck: Precheck; groups: readonly TransferRow[][] },
): Promise<WaitReason | undefined> {
  const [first] = groups.flat();
  if (first === undefined) return undefined;
  const amount = groups.flat().reduce((total, transfer) => total + transfer.amount, 0n);
  // Some of the planned transactions may have fallen away: the dearest ones stand for those that are left.
  const fees = dearestOf(precheck.fees, groups.length);
  const of = { wallet, precheck: { ...precheck, fees }, amount, of: first };
  return await takeStep(tx, context, of, nextPaymentStep);
}

/**
 * Orders ether for sent payments of the hot wallet whose fees have risen above what it holds: no node takes them before.
 *
 * @param waiting sent attempts of which no version is in a block
 * @throws HistoryChanged, FeeCeilingReached, ChainUnavailable
 */
export async function topUpGas(context: SendContext, waiting: readonly AttemptRow[]): Promise<void> {
  const { chain, run } = context;
  const paying = waiting.filter(
    ({ key_ref: keyRef, fee_payer: tank }) => keyRef === HOT_KEY_REF && tank === null,
  );
  const [first] = paying;
  if (first === undefined || chain.capabilities.sweepsPerTx === 0) return;
  const { sender, currency: asset } = first;
  const limit = paying.reduce((total, { fee_limit: most }) => total + BigInt(most ?? 0), 0n);
  if ((await chain.nativeBalance(sender)) >= limit) return;
  const wallet = await readWalletAt(chain, sender);
  const precheck = await chain.precheck({ kind: 'transfers', asset, transactions: [] });
  if (precheck === null) return;
  const waitsFor = await run.step(async (tx) => {
    await assertSameHistory(tx);
    await assertPresentWallet(tx, context, true);
    await lockWallet(tx, wallet);
    // A top-up that the signer refuses takes a sequence of the tank and is filled: it is not tried again at once.
    if (await isBlocked(tx, context, [...new Set(paying.map(({ group_id: id }) => id))])) return undefined;
    return await takeStep(tx, context, { wallet, precheck, amount: 0n, of: first }, nextRefuelStep);
  });
  if (waitsFor !== undefined) logWaiting(context, waitsFor);
}

interface Stepping {
  wallet: Wallet;
  precheck: Precheck;
  amount: bigint;
  /** The group that needs it, the token, and the key of the wallet. */
  of: Pick<TransferRow, 'network' | 'currency' | 'group_id' | 'key_ref'>;
}

async function takeStep(
  tx: Tx,
  context: SendContext,
  { wallet, precheck, amount, of }: Stepping,
  decide: (needs: PaymentNeeds) => PaymentStep,
): Promise<WaitReason | undefined> {
  const { merchantId } = context.merchant;
  const { network, currency: asset, group_id: groupId } = of;
  const tank = tankOf(network, precheck);
  const { gasCeiling, allowance } = await readSettings(tx, context.merchant, TRANSFER_SETTINGS);
  const needs = {
    asset,
    amount,
    precheck,
    underWay: await readUnderWay(tx, { merchantId, currency: asset, hot: wallet, tank }),
    limits: { gasCeiling: gasCeiling * WEI_PER_UNIT, allowance },
  };
  // The gas tank, which all merchants share, is locked only where it has to move something. What it spends otherwise can only
  // make the first answer too hopeful: the second one, under the lock, decides.
  let step = decide({ ...needs, tankSpending: 0n });
  if (step.do === 'move' && step.by === 'tank') {
    await lockWallet(tx, tank);
    const tankSpending = await sumTankSpending(tx, tank, precheck.movementFees.deploy);
    step = decide({ ...needs, tankSpending });
  }
  if (step.do === 'send') return undefined;
  if (step.do === 'wait') return step.reason;
  const { by, movement } = step;
  const mover = by === 'tank' ? { keyRef: TANK_KEY_REF, wallet: tank } : { keyRef: of.key_ref, wallet };
  const order = { merchantId, groupId, currency: asset, movement, ...mover };
  await reserveMovement(tx, order, context.nowSeconds);
  return movement.kind === 'gas' ? 'wait_gas' : 'wait_approval';
}

export const tankOf = (network: TransferRow['network'], { tank }: Pick<Precheck, 'tank'>): Wallet => ({
  network,
  sender: tank.address,
  chainNext: tank.nextSequence,
});

function dearestOf(fees: readonly bigint[], count: number): bigint[] {
  return fees.toSorted((a, b) => (a < b ? 1 : -1)).slice(0, count);
}
