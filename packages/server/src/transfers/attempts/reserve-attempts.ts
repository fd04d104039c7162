import type { KeyRef, Precheck } from '../../chains/port/index.ts';
import { newId } from '../../platform/db/ids/index.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { crashPoint } from '../../platform/jobs/index.ts';
import { assertSameHistory } from '../history/history.ts';
import { HOT_KEY_REF, insertAttempts, lockQueued, type NewAttempt, type TransferRow } from '../queries.ts';
import { UNPAYABLE } from '../recipients/unpayable-addresses.ts';
import { callForEach, type SendContext } from '../send-context.ts';
import { judgeUnbuildable, selectPayable, type TransferVerdict } from '../states.ts';
import { type PaymentPrecheck, precheckPayments, prepareWallet } from '../wallets/prepare-wallet.ts';
import { assertPresentWallet } from '../wallets/present-wallet.ts';
import { lockTankBudget } from '../wallets/tank-budget.ts';
import {
  lockWallet,
  readWallet,
  sumOutgoing,
  takeNumbers,
  type Wallet,
  type WalletCounts,
} from '../wallets/wallet-queries.ts';
import { writeUnsent } from './abandon-attempt.ts';
import { takeUpAttempts } from './given-way.ts';
import { selectPaidByTank, type TankBudget, tankCostOf } from './paid-by-tank.ts';
import type { WaitReason } from './readiness.ts';

/** A wallet and its balance at a final block. */
interface FundedWallet extends Wallet {
  keyRef: KeyRef;
  height: bigint;
  balance: bigint;
}

/** An attempt before it has taken its wallet's next numbers. */
type Unnumbered = Pick<NewAttempt, 'attemptId' | 'transfers' | 'sentBy' | 'paidBy'>;

interface FromWallet {
  attempts: NewAttempt[];
  waitsFor?: WaitReason | undefined;
  /** Some wait for coins of the wallet, whatever others wait for. */
  isShort: boolean;
  /** What is left of the tank's for the next wallet. */
  budget: TankBudget | undefined;
}

/**
 * How far the queued transfers got: `all` have an attempt; the wallet has `insufficient_coins` for some; or some are `waiting`.
 * `waitsFor`: what the wallet waits for before they can.
 */
export interface Reserved {
  reached: 'all' | 'insufficient_coins' | 'waiting';
  waitsFor?: WaitReason;
}

/**
 * Makes attempts for queued transfers, with their sequences, as far as the wallet's balance covers them. The others stay
 * queued until sweeps or the operator fund the wallet: a transaction without cover would use up a sequence and fail a
 * correct transfer. Where the wallet first needs ether or an allowance, that movement is reserved instead.
 *
 * @returns `insufficient_coins` where coins are missing for some, `waiting` where some wait for people, for a movement, or were changed
 *   meanwhile
 * @throws WalletBehind, WalletRotated, WalletClosing, HistoryChanged, FeeCeilingReached
 */
export async function reserveAttempts(
  context: SendContext,
  queued: readonly TransferRow[],
): Promise<Reserved> {
  const wallets = await readFundedWallets(context, queued);
  const prechecked = await precheckPayments(context, queued);
  crashPoint('reserve.before');
  const reserved = await context.run.step(async (tx): Promise<Reserved> => {
    context.history.name = await assertSameHistory(tx);
    await assertPresentWallet(tx, context);
    const locked = await lockQueued(tx, context.merchant.merchantId, context.groupIds, context.nowSeconds);
    let budget = await lockTankBudget(tx, context, prechecked.precheck);
    const clean = await failUnpayable(tx, context, locked, prechecked);
    const attempts: NewAttempt[] = [];
    let waitsFor: WaitReason | undefined;
    let isShort = false;
    // All before the gas tank, which each may need.
    if (budget === undefined) for (const wallet of wallets) await lockWallet(tx, wallet);
    for (const wallet of wallets) {
      const own = clean.filter((transfer) => transfer.key_ref === wallet.keyRef);
      const precheck = prechecked.byKey?.get(wallet.keyRef) ?? null;
      const from = await reserveFrom(tx, context, { wallet, precheck, budget }, own);
      attempts.push(...from.attempts);
      budget = from.budget;
      isShort ||= from.isShort;
      waitsFor = from.waitsFor ?? waitsFor;
    }
    await insertAttempts(tx, attempts, context.nowSeconds);
    crashPoint('reserve.before-commit');
    if (isShort) return { reached: 'insufficient_coins', ...(waitsFor !== undefined && { waitsFor }) };
    if (waitsFor !== undefined) return { reached: 'waiting', waitsFor };
    return { reached: locked.length < queued.length ? 'waiting' : 'all' };
  });
  crashPoint('reserve.after-commit');
  return reserved;
}

/** A charge brings coins in, so its wallet's balance does not matter. */
const NO_BALANCES = { height: 0n, balances: new Map<string, bigint>() };

/** Reads the wallets that the transfers leave from, in the order in which their rows are locked. */
async function readFundedWallets(
  context: SendContext,
  queued: readonly TransferRow[],
): Promise<FundedWallet[]> {
  const { chain } = context;
  const [first] = queued;
  if (first === undefined) return [];
  const keys = [...new Set(queued.map((transfer) => transfer.key_ref))];
  const wallets = await callForEach(context, keys, async (keyRef) => ({
    keyRef,
    ...(await readWallet(chain, keyRef)),
  }));
  const senders = wallets.map(({ sender }) => sender);
  const { height, balances } = context.isCharge
    ? NO_BALANCES
    : await chain.balances(senders, first.currency, 'final');
  return wallets
    .map((wallet) => ({ ...wallet, height, balance: balances.get(wallet.sender) ?? 0n }))
    .sort((a, b) => (a.sender < b.sender ? -1 : 1));
}

/** Attempts for the transfers that leave from one wallet. None where the wallet first waits for something. */
async function reserveFrom(
  tx: Tx,
  context: SendContext,
  {
    wallet,
    precheck,
    budget,
  }: { wallet: FundedWallet; precheck: Precheck | null; budget: TankBudget | undefined },
  transfers: readonly TransferRow[],
): Promise<FromWallet> {
  const [first] = transfers;
  const none = { attempts: [], isShort: false, budget };
  if (first === undefined) return none;
  const next = await lockWallet(tx, wallet);
  // Swept coins would only join those that the token keeps where they are.
  if (precheck !== null && precheck.refused !== null) return { ...none, waitsFor: precheck.refused };
  const number = (list: readonly Unnumbered[]) => numberAttempts(tx, wallet, { next, attempts: list });
  if (context.isCharge) {
    const { nowSeconds } = context;
    const unnumberedYet = await takeUpAttempts(tx, wallet, { charges: transfers, nowSeconds });
    return { ...none, attempts: await number(unnumberedYet.map((charge) => unnumbered([charge]))) };
  }
  const { groups, isShort, isHolding } = selectPayable(transfers, {
    coins: await availableCoins(tx, context, wallet, first),
    reverting: precheck?.reverting,
    maxItemsPerTx: context.chain.capabilities.maxItemsPerTx,
  });
  const held: WaitReason | undefined = isHolding ? 'call_reverts' : undefined;
  if (precheck !== null && budget !== undefined) {
    const { paid, waitsFor = held, left } = payByTank(precheck, budget, groups);
    return { attempts: await number(paid), waitsFor, isShort, budget: left };
  }
  if (precheck !== null && groups.length > 0) {
    const { waitsFor, count } = await prepareWallet(tx, context, { wallet, precheck, groups });
    if (waitsFor !== undefined) return { attempts: [], waitsFor, isShort, budget };
    if (count < groups.length) {
      const attempts = await number(groups.slice(0, count).map(unnumbered));
      return { attempts, waitsFor: 'wait_gas', isShort, budget };
    }
  }
  return { attempts: await number(groups.map(unnumbered)), waitsFor: held, isShort, budget };
}

const unnumbered = (transfers: readonly TransferRow[]): Unnumbered => ({ attemptId: newId(), transfers });

/** Those of the planned payments that the tank can pay. */
function payByTank(precheck: Precheck, budget: TankBudget, groups: readonly (readonly TransferRow[])[]) {
  const { paidByTank, tank } = precheck;
  const planned = groups.map((group) => ({
    group,
    ...tankCostOf(
      paidByTank,
      group.map(({ address }) => address),
    ),
  }));
  const { taken, waitsFor, left } = selectPaidByTank(planned, budget);
  const paid = taken.map(({ group, openings }) => ({
    ...unnumbered(group),
    paidBy: { tank: tank.address, openings },
  }));
  return { paid, waitsFor, left };
}

/** Gives attempts the next numbers of a locked wallet. */
export async function numberAttempts(
  tx: Tx,
  wallet: Wallet,
  { next, attempts }: { next: WalletCounts; attempts: readonly Unnumbered[] },
): Promise<NewAttempt[]> {
  const ids = attempts.map((attempt) => attempt.attemptId);
  const numbers = await takeNumbers(tx, wallet, { next, attemptIds: ids });
  return attempts.flatMap((attempt, i) => {
    const taken = numbers[i];
    return taken === undefined ? [] : [{ ...attempt, sender: wallet.sender, ...taken }];
  });
}

async function availableCoins(
  tx: Tx,
  { merchant }: SendContext,
  wallet: FundedWallet,
  { currency }: TransferRow,
): Promise<bigint> {
  return wallet.balance - (await sumOutgoing(tx, merchant.merchantId, { ...wallet, currency }));
}

const SANCTIONED = { code: 'address_risk', message: 'The address is on the risk list.' } as const;
const OWN = { code: 'transfer_failed', message: `${UNPAYABLE} Nothing was paid.` } as const;

const BLOCKED = {
  code: 'transfer_failed',
  message: "The token's issuer has blocked this address. Nothing was paid.",
} as const;

/**
 * Fails transfers that the token would refuse, and those whose address was sanctioned, or given out to a payer, since they were submitted.
 *
 * @returns the other transfers
 */
export async function failUnpayable(
  tx: Tx,
  context: SendContext,
  queued: readonly TransferRow[],
  prechecked: PaymentPrecheck,
): Promise<TransferRow[]> {
  const verdicts = await findUnpayable(tx, context, queued, prechecked);
  const refused = new Set(verdicts.map(({ transferId }) => transferId));
  await writeUnsent(tx, context, verdicts, queued);
  return queued.filter((transfer) => !refused.has(transfer.transfer_id));
}

async function findUnpayable(
  db: Db,
  { deps, merchant, chain, isCharge }: SendContext,
  transfers: readonly TransferRow[],
  { precheck, fault }: PaymentPrecheck,
): Promise<TransferVerdict[]> {
  const { network } = chain;
  const addresses = transfers.map((transfer) => transfer.address);
  const sanctioned = await deps.screen(db, merchant.mode, { network, addresses, stage: 'execution' });
  // A sweep goes to the hot wallet, and a charge comes from its address.
  const paid = isCharge ? [] : transfers.filter((transfer) => transfer.key_ref === HOT_KEY_REF);
  const recipients = { network, addresses: paid.map((transfer) => transfer.address) };
  const unpayable = await deps.findUnpayable(db, merchant, recipients);
  return transfers.flatMap(({ transfer_id: transferId, address }): TransferVerdict[] => {
    if (sanctioned.has(address)) return [{ transferId, to: 'failed', ...SANCTIONED }];
    if (unpayable.has(address)) return [{ transferId, to: 'failed', ...OWN }];
    if (fault !== undefined) return judgeUnbuildable([{ transferId, isCharge }], fault);
    return precheck?.unpayable.has(transferId) === true ? [{ transferId, to: 'failed', ...BLOCKED }] : [];
  });
}
