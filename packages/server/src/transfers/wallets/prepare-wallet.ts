import {
  type DepositKeyRef,
  depositIndexOf,
  type KeyRef,
  type Movement,
  type Precheck,
  UnbuildableTransfer,
} from '../../chains/port/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import { readSettings } from '../../tenancy/settings/index.ts';
import { isTankHeld } from '../attempts/blocked-attempts.ts';
import { isLate } from '../attempts/lending.ts';
import { NO_TANK_USE, readTankUse, readUnderWay, reserveMovement } from '../attempts/movements.ts';
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
import type { SendContext, StepContext } from '../send-context.ts';
import { planAttempts } from '../states.ts';
import { nativeCeiling, readDayLeft } from './native-limits.ts';
import { assertPresentWallet } from './present-wallet.ts';
import { lockWallet, readWalletAt, type Wallet } from './wallet-queries.ts';

/** What the chain says of payments before they take a sequence. */
export interface PaymentPrecheck {
  /** Of the first wallet; null where the network wants nothing. */
  precheck: Precheck | null;
  /** By the wallet, where each pays for itself. */
  byKey?: ReadonlyMap<KeyRef, Precheck>;
  /** Why none of them can be built, whatever is done. */
  fault?: string;
}

/** Read after the sequences of the wallets, and before any lock. @throws FeeCeilingReached, ChainUnavailable */
export async function precheckPayments(
  { chain, isCharge }: SendContext,
  queued: readonly TransferRow[],
): Promise<PaymentPrecheck> {
  const [first] = queued;
  const byKey = new Map<KeyRef, Precheck>();
  if (first === undefined || isCharge) return { precheck: null, byKey };
  try {
    for (const keyRef of new Set(queued.map(({ key_ref: key }) => key))) {
      const own = queued.filter(({ key_ref: key }) => key === keyRef);
      const transactions = planAttempts(own, chain.capabilities.maxItemsPerTx).map((transfers) =>
        transfers.map(itemOf),
      );
      const precheck = await chain.precheck({
        kind: 'transfers',
        keyRef,
        asset: first.currency,
        transactions,
      });
      // Whoever wants nothing of one wallet wants nothing of the others.
      if (precheck === null) return { precheck, byKey };
      byKey.set(keyRef, precheck);
    }
    return { precheck: byKey.get(first.key_ref) ?? null, byKey };
  } catch (error) {
    if (!(error instanceof UnbuildableTransfer)) throw error;
    return { precheck: null, byKey: new Map(), fault: error.message };
  }
}

const itemOf = ({ transfer_id: itemId, place, address: to, amount }: TransferRow) => ({
  itemId,
  place,
  to,
  amount,
});

/** Fewer payments need less, or nothing beside what is there. */
const BOUNDS: ReadonlySet<WaitReason> = new Set([
  'gas_ceiling',
  'gas_day',
  'top_ups_used',
  'tank_low',
  'top_up_refused',
]);

/** What payments wait for; undefined: as many of them as `count`, the first ones, can be sent. */
interface Prepared {
  waitsFor: WaitReason | undefined;
  count: number;
}

/**
 * Reserves the movement that has to come before these payments, under the wallet's lock. Where each is a transaction of its own, as many
 * go at once as the wallet's coins pay for, or its ceiling, what is left of a day and the tank let a top-up bring.
 */
export async function prepareWallet(
  tx: Tx,
  context: StepContext,
  { wallet, precheck, groups }: { wallet: Wallet; precheck: Precheck; groups: readonly Due[][] },
): Promise<Prepared> {
  for (let count = groups.length; ; count >>= 1) {
    const waitsFor = await prepareFor(tx, context, { wallet, precheck, groups: groups.slice(0, count) });
    const isDivisible = wallet.chainNext === null && count > 1;
    if (!isDivisible || waitsFor === undefined || !BOUNDS.has(waitsFor)) return { waitsFor, count };
  }
}

async function prepareFor(
  tx: Tx,
  context: StepContext,
  { wallet, precheck, groups }: { wallet: Wallet; precheck: Precheck; groups: readonly Due[][] },
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
    return await takeStep(tx, context, { wallet, precheck, amount: 0n, of: first }, nextRefuelStep);
  });
  if (waitsFor !== undefined) logWaiting(context, waitsFor);
}

interface Stepping {
  wallet: Wallet;
  precheck: Precheck;
  amount: bigint;
  /** The group that needs it, the token, and the key of the wallet. */
  of: Pick<TransferRow, 'network' | 'currency' | 'group_id' | 'key_ref' | 'created_at'>;
}

type Due = Stepping['of'] & Pick<TransferRow, 'amount'>;

async function takeStep(
  tx: Tx,
  context: StepContext,
  { wallet, precheck, amount, of }: Stepping,
  decide: (needs: PaymentNeeds) => PaymentStep,
): Promise<WaitReason | undefined> {
  const { merchantId } = context.merchant;
  const { network, currency: asset, group_id: groupId } = of;
  const tank = tankOf(network, precheck);
  const settings = await readSettings(tx, context.merchant, TRANSFER_SETTINGS);
  const deposit = depositOf(of.key_ref);
  const needs = {
    asset,
    amount,
    precheck,
    underWay: await readUnderWay(tx, {
      merchantId,
      currency: asset,
      hot: { ...wallet, asOf: precheck.asOf },
      tank,
      gasTo: deposit,
    }),
    limits: {
      gasCeiling: nativeCeiling(settings, network),
      allowance: settings.allowance,
      isExact: deposit !== undefined,
      isLate: isLate(of, context.nowSeconds),
      lentMost: settings.trxLent,
    },
  };
  // The gas tank, which all merchants share, is locked only where it has to move something. What it spends otherwise can only
  // make the first answer too hopeful: the second one, under the lock, decides.
  let step = decide({ ...needs, ...NO_TANK_USE });
  if (step.do === 'move' && step.by === 'tank') {
    await lockWallet(tx, tank);
    const { nowSeconds } = context;
    const asked = { merchantId, network, nowSeconds, isForDeposit: deposit !== undefined };
    if (await isTankHeld(tx, asked)) return 'top_up_refused';
    const use = await readTankUse(tx, tank, dearestOfTank(precheck));
    const dayLeft = await readDayLeft(tx, settings, { merchantId, network, nowSeconds });
    step = decide({ ...needs, limits: { ...needs.limits, dayLeft }, ...use });
  }
  if (step.do === 'send') return undefined;
  if (step.do === 'wait') return step.reason;
  const { by } = step;
  const isForDeposit = step.movement.kind === 'gas' && deposit !== undefined;
  const movement = isForDeposit ? { ...step.movement, to: deposit } : step.movement;
  const mover = by === 'tank' ? { keyRef: TANK_KEY_REF, wallet: tank } : { keyRef: of.key_ref, wallet };
  const order = { merchantId, groupId, currency: asset, movement, ...mover };
  await reserveMovement(tx, order, context.nowSeconds);
  return WAITS_FOR[movement.kind] ?? 'wait_approval';
}

const WAITS_FOR: Partial<Record<Movement['kind'], WaitReason>> = { gas: 'wait_gas', lend: 'wait_lent' };

/** The deposit address that sends, and is given coins for it; undefined: a hot wallet. */
const depositOf = (keyRef: KeyRef): DepositKeyRef | undefined => {
  const index = depositIndexOf(keyRef);
  return index === null ? undefined : `deposit:${index}`;
};

export const tankOf = (
  network: TransferRow['network'],
  { tank, asOf }: Pick<Precheck, 'tank' | 'asOf'>,
): Wallet => ({ network, sender: tank.address, chainNext: tank.nextSequence, asOf });

/** The dearest transaction of a tank that gives coins and deploys contracts. */
export const dearestOfTank = ({ movementFees: { gas, deploy } }: Pick<Precheck, 'movementFees'>): bigint =>
  gas > deploy ? gas : deploy;

function dearestOf(fees: readonly bigint[], count: number): bigint[] {
  return fees.toSorted((a, b) => (a < b ? 1 : -1)).slice(0, count);
}
