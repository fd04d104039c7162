import { UnservedMandate } from '../../chains/charges/index.ts';
import { type ChargesPrecheck, SigningBlocked, UnbuildableTransfer } from '../../chains/port/index.ts';
import { newId } from '../../platform/db/ids/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import { crashPoint } from '../../platform/jobs/index.ts';
import { writeUnsent } from '../attempts/abandon-attempt.ts';
import { type ChargeVerdict, judgeCharge, nextChargeStep } from '../attempts/charge-readiness.ts';
import { takeUpAttempts } from '../attempts/given-way.ts';
import { reserveMovement } from '../attempts/movements.ts';
import {
  failUnpayable,
  numberAttempts,
  type Reserved,
  reserveAttempts,
} from '../attempts/reserve-attempts.ts';
import { assertSameHistory } from '../history/history.ts';
import { HOT_KEY_REF, insertAttempts, lockQueued, TANK_KEY_REF, type TransferRow } from '../queries.ts';
import type { SendContext } from '../send-context.ts';
import { chargeFailure } from '../states.ts';
import { tankOf } from '../wallets/prepare-wallet.ts';
import { assertPresentWallet } from '../wallets/present-wallet.ts';
import { lockWallet, readWallet, type Wallet } from '../wallets/wallet-queries.ts';
import { findAwaited, noteSimulationSucceeded } from './activations.ts';
import { decideUnderLocks } from './charge-needs.ts';
import { chargeOf, type StoredCharge } from './charges.ts';

interface Charge extends TransferRow {
  charge: StoredCharge;
}

const isCharge = (row: TransferRow): row is Charge => row.charge !== null;

/**
 * Makes attempts for queued charges. Where the network says beforehand which would fail, those fail unsent; a charge waits
 * for its mandate's activation; and as many are sent as the wallet's ether pays for.
 *
 * @throws WalletBehind, HistoryChanged, FeeCeilingReached, ChainUnavailable
 */
export async function reserveCharges(
  context: SendContext,
  queued: readonly TransferRow[],
): Promise<Reserved> {
  if (!context.chain.capabilities.prechecksCharges) return await reserveUnchecked(context, queued);
  const hot = await readWallet(context.chain, HOT_KEY_REF);
  const precheck = await readPrecheck(context, queued.filter(isCharge));
  if (precheck === null) return await reserveAttempts(context, queued);
  crashPoint('reserve.before');
  const reserved = await context.run.step(async (tx): Promise<Reserved> => {
    context.history.name = await assertSameHistory(tx);
    await assertPresentWallet(tx, context);
    const { merchant, groupIds, nowSeconds } = context;
    const locked = await lockQueued(tx, merchant.merchantId, groupIds, nowSeconds);
    const fault = typeof precheck === 'string' ? { fault: precheck } : {};
    const clean = (await failUnpayable(tx, context, locked, { precheck: null, ...fault })).filter(isCharge);
    if (typeof precheck === 'string') return { reached: 'all' };
    const { ready, waits } = await sortOut(tx, context, clean, precheck);
    const sent = await sendAffordable(tx, context, ready, { hot, precheck });
    crashPoint('reserve.before-commit');
    if (sent.waitsFor !== undefined) return { reached: 'waiting', waitsFor: sent.waitsFor };
    if (waits.length > 0) return { reached: 'waiting', waitsFor: 'wait_activate' };
    return { reached: locked.length < queued.length ? 'waiting' : 'all' };
  });
  crashPoint('reserve.after-commit');
  return reserved;
}

/** Where a charge is not tried beforehand: what the token lets nobody move into our wallet is no failure of a payer's, and waits as payouts do. */
async function reserveUnchecked(context: SendContext, queued: readonly TransferRow[]): Promise<Reserved> {
  const refused = await readRefusal(context, queued);
  if (refused !== null) return { reached: 'waiting', waitsFor: refused };
  return await reserveAttempts(context, queued);
}

/** As of whatever is moved into the hot wallet. A token that the network has not is found out as each charge is built. */
async function readRefusal(
  { chain }: SendContext,
  [first]: readonly TransferRow[],
): Promise<ChargesPrecheck['refused']> {
  if (first === undefined) return null;
  try {
    const precheck = await chain.precheck({ kind: 'sweeps', asset: first.currency, transactions: [] });
    return precheck?.refused ?? null;
  } catch (error) {
    if (!(error instanceof UnbuildableTransfer)) throw error;
    return null;
  }
}

/**
 * @returns a string where none of them can be built. One that cannot, among others, makes each run alone.
 * @throws SigningBlocked where what charged by its mandate is not configured any more
 */
async function readPrecheck(
  { chain }: SendContext,
  charges: readonly Charge[],
): Promise<ChargesPrecheck | string | null> {
  const [first, ...others] = charges;
  if (first === undefined) return null;
  const asked = charges.map(({ transfer_id: chargeId, amount, charge }) => ({
    chargeId,
    amount,
    ...chargeOf(charge),
  }));
  try {
    return await chain.precheckCharges({ asset: first.currency, charges: asked });
  } catch (error) {
    if (!(error instanceof UnbuildableTransfer) || others.length > 0) throw error;
    if (error instanceof UnservedMandate) throw new SigningBlocked(first.network, 'policy', error.message);
    return error.message;
  }
}

/** Fails those that the collector would refuse. */
async function sortOut(
  tx: Tx,
  context: SendContext,
  charges: readonly Charge[],
  precheck: ChargesPrecheck,
): Promise<{ ready: Charge[]; waits: Charge[] }> {
  const mandateIds = charges.map(({ charge }) => charge.mandate.mandateId);
  const { network } = context.chain;
  const awaited = await findAwaited(tx, context.merchant.merchantId, { network, mandateIds });
  const judged = charges.map((charge): { charge: Charge; verdict: ChargeVerdict } => {
    const { transfer_id: chargeId } = charge;
    const { mandateId } = charge.charge.mandate;
    const verdict = judgeCharge(precheck, { chargeId, mandateId }, awaited.get(mandateId));
    return { charge, verdict };
  });
  const failed = judged.flatMap(({ charge: { transfer_id: transferId }, verdict }) => {
    if (verdict === 'ready' || verdict === 'waits') return [];
    const message = 'The network would refuse the charge, so it was not sent. Nothing was paid.';
    return [{ transferId, to: 'failed' as const, code: chargeFailure(verdict), message }];
  });
  await writeUnsent(tx, context, failed, charges);
  const those = (verdict: ChargeVerdict) =>
    judged.filter((one) => one.verdict === verdict).map(({ charge }) => charge);
  return { ready: those('ready'), waits: those('waits') };
}

async function sendAffordable(
  tx: Tx,
  context: SendContext,
  ready: readonly Charge[],
  { hot, precheck }: { hot: Wallet; precheck: ChargesPrecheck },
): Promise<Pick<Reserved, 'waitsFor'>> {
  const [first] = ready;
  if (first === undefined) return {};
  const { currency, group_id: groupId } = first;
  const { merchantId } = context.merchant;
  const mandateIds = ready.map(({ charge }) => charge.mandate.mandateId);
  // Before the wallet's lock, as an activation takes the two in this order.
  await noteSimulationSucceeded(tx, merchantId, { network: hot.network, mandateIds });
  const step = await decideUnderLocks(tx, context, { hot, precheck, currency }, (needs) =>
    nextChargeStep(needs, ready.length),
  );
  if (step.do === 'wait') return { waitsFor: step.reason };
  if (step.do === 'move') {
    const { movement } = step;
    const tank = { keyRef: TANK_KEY_REF, wallet: tankOf(hot.network, precheck) };
    await reserveMovement(tx, { merchantId, groupId, currency, movement, ...tank }, context.nowSeconds);
    return { waitsFor: movement.kind === 'gas' ? 'wait_gas' : 'wait_account' };
  }
  const next = await lockWallet(tx, hot);
  const { nowSeconds } = context;
  const rest = await takeUpAttempts(tx, hot, { charges: ready.slice(0, step.count), nowSeconds });
  const attempts = rest.map((charge) => ({ attemptId: newId(), transfers: [charge] }));
  await insertAttempts(tx, await numberAttempts(tx, hot, { next, attempts }), nowSeconds);
  return step.count < ready.length ? { waitsFor: 'wait_gas' } : {};
}
