import type { KeyRef, Precheck } from '../../chains/port/index.ts';
import { newId } from '../../platform/db/ids/index.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { crashPoint } from '../../platform/jobs/index.ts';
import { assertSameHistory } from '../history/history.ts';
import { HOT_KEY_REF, insertAttempts, lockQueued, type NewAttempt, type TransferRow } from '../queries.ts';
import { UNPAYABLE } from '../recipients/unpayable-addresses.ts';
import { judgeUnbuildable, type MemberVerdict, planAttempts, selectAffordable } from '../states.ts';
import { type Beforehand, precheckPayments, prepareWallet } from '../wallets/prepare-wallet.ts';
import { assertPresentWallet } from '../wallets/present-wallet.ts';
import { readWallet } from '../wallets/read-wallet.ts';
import {
  lockWallet,
  sumOutgoing,
  takeNumbers,
  type Wallet,
  type WalletCounts,
} from '../wallets/wallet-queries.ts';
import { callForEach, type Work } from '../work.ts';
import { writeUnsent } from './abandon-attempt.ts';
import type { WaitReason } from './readiness.ts';

/** A wallet and its balance at a final block. */
interface FundedWallet extends Wallet {
  keyRef: KeyRef;
  height: bigint;
  balance: bigint;
}

/** How far the queued transfers got; `waiting`: what the wallet waits for before they can. */
export interface Reserved {
  reached: 'all' | 'short' | 'held';
  waiting?: WaitReason;
}

/**
 * Makes attempts for queued transfers, with their sequences, as far as the wallet's balance covers them. The others stay
 * queued until sweeps or the operator fund the wallet: a transaction without cover would use up a sequence and fail a
 * correct transfer. Where the wallet first needs ether or an allowance, that movement is reserved instead.
 *
 * @returns `short` where coins are missing for some, `held` where some wait for people, for a movement, or were changed
 *   meanwhile
 * @throws WalletBehind, WalletRotated, WalletClosing, HistoryChanged, FeeCeilingReached
 */
export async function reserveAttempts(work: Work, queued: readonly TransferRow[]): Promise<Reserved> {
  const wallets = await readFundedWallets(work, queued);
  const beforehand = await precheckPayments(work, queued);
  crashPoint('reserve.before');
  const reserved = await work.run.step(async (tx): Promise<Reserved> => {
    work.history.name = await assertSameHistory(tx);
    await assertPresentWallet(tx, work);
    const locked = await lockQueued(tx, work.merchant.merchantId, work.groupIds, work.nowSeconds);
    const clean = await failUnpayable(tx, work, locked, beforehand);
    const attempts: NewAttempt[] = [];
    let waiting: WaitReason | undefined;
    for (const wallet of wallets) {
      const own = clean.filter((transfer) => transfer.key_ref === wallet.keyRef);
      const from = await reserveFrom(tx, work, { wallet, precheck: beforehand.precheck }, own);
      if (Array.isArray(from)) attempts.push(...from);
      else waiting = from.waiting;
    }
    await insertAttempts(tx, attempts, work.nowSeconds);
    crashPoint('reserve.before-commit');
    if (waiting !== undefined) return { reached: 'held', waiting };
    const count = attempts.reduce((sum, attempt) => sum + attempt.members.length, 0);
    if (count < clean.length) return { reached: 'short' };
    return { reached: locked.length < queued.length ? 'held' : 'all' };
  });
  crashPoint('reserve.after-commit');
  return reserved;
}

/** A charge brings coins in, so its wallet's balance does not matter. */
const NO_BALANCES = { height: 0n, balances: new Map<string, bigint>() };

/** Reads the wallets that the transfers leave from, in the order in which their rows are locked. */
async function readFundedWallets(work: Work, queued: readonly TransferRow[]): Promise<FundedWallet[]> {
  const { chain } = work;
  const [first] = queued;
  if (first === undefined) return [];
  const keys = [...new Set(queued.map((transfer) => transfer.key_ref))];
  const wallets = await callForEach(work, keys, async (keyRef) => ({
    keyRef,
    ...(await readWallet(chain, keyRef)),
  }));
  const senders = wallets.map(({ sender }) => sender);
  const { height, balances } = work.isCharge
    ? NO_BALANCES
    : await chain.balances(senders, first.currency, 'final');
  return wallets
    .map((wallet) => ({ ...wallet, height, balance: balances.get(wallet.sender) ?? 0n }))
    .sort((a, b) => (a.sender < b.sender ? -1 : 1));
}

async function reserveFrom(
  tx: Tx,
  work: Work,
  { wallet, precheck }: { wallet: FundedWallet; precheck: Precheck | null },
  transfers: readonly TransferRow[],
): Promise<NewAttempt[] | { waiting: WaitReason }> {
  const [first] = transfers;
  if (first === undefined) return [];
  const next = await lockWallet(tx, wallet);
  const groups = work.isCharge
    ? transfers.map((charge) => [charge])
    : selectAffordable(
        planAttempts(transfers, work.chain.caps.maxItemsPerTx),
        await availableCoins(tx, work, wallet, first),
      );
  if (precheck !== null && groups.length > 0) {
    const waiting = await prepareWallet(tx, work, { wallet, precheck, groups });
    if (waiting !== undefined) return { waiting };
  }
  const attempts = groups.map((members) => ({ attemptId: newId(), members }));
  return await numberAttempts(tx, wallet, { next, attempts });
}

/** Gives attempts the next numbers of a locked wallet. */
export async function numberAttempts(
  tx: Tx,
  wallet: Wallet,
  {
    next,
    attempts,
  }: { next: WalletCounts; attempts: readonly Pick<NewAttempt, 'attemptId' | 'members' | 'sentBy'>[] },
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
  { merchant }: Work,
  wallet: FundedWallet,
  { currency }: TransferRow,
): Promise<bigint> {
  return wallet.balance - (await sumOutgoing(tx, merchant.merchantId, { ...wallet, currency }));
}

const LISTED = { code: 'address_risk', message: 'The address is on the risk list.' } as const;
const OWN = { code: 'transfer_failed', message: `${UNPAYABLE} Nothing was paid.` } as const;

const BLOCKED = {
  code: 'transfer_failed',
  message: "The token's issuer has blocked this address. Nothing was paid.",
} as const;

/**
 * Fails transfers that the token would refuse, and those whose address was risk-listed, or given out to a payer, since they were submitted.
 *
 * @returns the other transfers
 */
export async function failUnpayable(
  tx: Tx,
  work: Work,
  queued: readonly TransferRow[],
  beforehand: Beforehand,
): Promise<TransferRow[]> {
  const verdicts = await findUnpayable(tx, work, queued, beforehand);
  const refused = new Set(verdicts.map(({ transferId }) => transferId));
  await writeUnsent(tx, work, verdicts, queued);
  return queued.filter((transfer) => !refused.has(transfer.transfer_id));
}

async function findUnpayable(
  db: Db,
  { deps, merchant, chain, isCharge }: Work,
  transfers: readonly TransferRow[],
  { precheck, fault }: Beforehand,
): Promise<MemberVerdict[]> {
  const { network } = chain;
  const addresses = transfers.map((transfer) => transfer.address);
  const listed = await deps.screen(db, merchant.mode, { network, addresses, moment: 'submit' });
  // A sweep goes to the hot wallet, and a charge comes from its address.
  const paid = isCharge ? [] : transfers.filter((transfer) => transfer.key_ref === HOT_KEY_REF);
  const recipients = { network, addresses: paid.map((transfer) => transfer.address) };
  const unpayable = await deps.findUnpayable(db, merchant, recipients);
  return transfers.flatMap(({ transfer_id: transferId, address }): MemberVerdict[] => {
    if (listed.has(address)) return [{ transferId, to: 'failed', ...LISTED }];
    if (unpayable.has(address)) return [{ transferId, to: 'failed', ...OWN }];
    if (fault !== undefined) return judgeUnbuildable([{ transferId, isCharge }], fault);
    return precheck?.unpayable.has(transferId) === true ? [{ transferId, to: 'failed', ...BLOCKED }] : [];
  });
}
