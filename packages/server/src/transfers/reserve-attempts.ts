import { type KeyRef, type SignedTx, type TransferItem, UnbuildableTransfer } from '../chains/index.ts';
import type { Db, Tx } from '../platform/db/index.ts';
import { newId } from '../platform/db/index.ts';
import { crashPoint } from '../platform/jobs/index.ts';
import { chargeOf } from './charges.ts';
import { giveUp, lockWalletOf, writeUnsent } from './give-up.ts';
import { assertSameHistory } from './history.ts';
import { OWN_ADDRESS } from './own-addresses.ts';
import {
  type AttemptRow,
  insertAttempts,
  KEY_REF,
  lockQueued,
  type NewAttempt,
  readLiveAttempts,
  readTransfers,
  storeSigned,
  type TransferRow,
} from './queries.ts';
import { fitting, judgeUnbuildable, type MemberVerdict, planAttempts } from './states.ts';
import { attemptsBefore, lockWallet, sumOutgoing, takeNumbers, type Wallet } from './wallet-queries.ts';
import { callForEach, type Work } from './work.ts';

/** A wallet with what it holds at a final block. */
interface Purse extends Wallet {
  keyRef: KeyRef;
  height: bigint;
  balance: bigint;
}

/**
 * Gives queued transfers an attempt, and the attempts their sequences, as far as the wallet's coins go. What it lacks
 * lies at deposit addresses or is the operator's to fill up; a transaction that the chain would refuse burns a sequence
 * and fails a transfer that nothing is wrong with, so the rest stays queued.
 *
 * @returns whether all of them got one
 * @throws WalletBehind, HistoryChanged
 */
export async function reserveAttempts(work: Work, queued: readonly TransferRow[]): Promise<boolean> {
  const purses = await openPurses(work, queued);
  crashPoint('reserve.before');
  const isShort = await work.run.step(async (tx) => {
    work.history.name = await assertSameHistory(tx);
    const locked = await lockQueued(tx, work.merchant.merchantId, work.groupIds);
    const clean = await refuseUnpayable(tx, work, locked);
    const attempts: NewAttempt[] = [];
    for (const purse of purses) {
      const own = clean.filter((transfer) => transfer.key_ref === purse.keyRef);
      attempts.push(...(await reserveFrom(tx, work, purse, own)));
    }
    await insertAttempts(tx, attempts, work.nowSeconds);
    const reserved = attempts.reduce((sum, attempt) => sum + attempt.members.length, 0);
    crashPoint('reserve.before-commit');
    return reserved < clean.length;
  });
  crashPoint('reserve.after-commit');
  return !isShort;
}

/** A charge brings coins: what its wallet holds does not matter. */
const NO_COINS = { height: 0n, balances: new Map<string, bigint>() };

/** The wallets that the transfers leave from, in the order in which their rows are locked. */
async function openPurses(work: Work, queued: readonly TransferRow[]): Promise<Purse[]> {
  const { chain } = work;
  const [first] = queued;
  if (first === undefined) return [];
  const keys = [...new Set(queued.map((transfer) => transfer.key_ref))];
  const wallets = await callForEach(work, keys, async (keyRef) => {
    const sender = await chain.sender(keyRef);
    const chainNext = await chain.nextSequence(sender);
    return {
      keyRef,
      network: chain.network,
      sender,
      chainNext: chainNext === null ? null : BigInt(chainNext),
    };
  });
  const senders = wallets.map(({ sender }) => sender);
  const { height, balances } = work.isCharge
    ? NO_COINS
    : await chain.balances(senders, first.currency, 'final');
  return wallets
    .map((wallet) => ({ ...wallet, height, balance: balances.get(wallet.sender) ?? 0n }))
    .sort((a, b) => (a.sender < b.sender ? -1 : 1));
}

async function reserveFrom(
  tx: Tx,
  work: Work,
  purse: Purse,
  transfers: readonly TransferRow[],
): Promise<NewAttempt[]> {
  const [first] = transfers;
  if (first === undefined) return [];
  const next = await lockWallet(tx, purse);
  const groups = work.isCharge
    ? transfers.map((charge) => [charge])
    : fitting(planAttempts(transfers, work.chain.caps.maxItemsPerTx), await coinsIn(tx, work, purse, first));
  const attempts = groups.map((members) => ({ attemptId: newId(), members }));
  const ids = attempts.map((attempt) => attempt.attemptId);
  const numbers = await takeNumbers(tx, purse, { next, attemptIds: ids });
  return attempts.flatMap((attempt, i) => {
    const taken = numbers[i];
    return taken === undefined ? [] : [{ ...attempt, sender: purse.sender, ...taken }];
  });
}

async function coinsIn(tx: Tx, { merchant }: Work, purse: Purse, { currency }: TransferRow): Promise<bigint> {
  return purse.balance - (await sumOutgoing(tx, merchant.merchantId, { ...purse, currency }));
}

const LISTED = { code: 'address_risk', message: 'The address is on the risk list.' } as const;
const OWN = { code: 'transfer_failed', message: `${OWN_ADDRESS} Nothing was paid.` } as const;

/**
 * An address that was listed or given out to a payer since it was submitted fails before anything is signed for it.
 *
 * @returns the others
 */
async function refuseUnpayable(tx: Tx, work: Work, queued: readonly TransferRow[]): Promise<TransferRow[]> {
  const verdicts = await findUnpayable(tx, work, queued);
  const refused = new Set(verdicts.map(({ transferId }) => transferId));
  await writeUnsent(tx, work, verdicts, queued);
  return queued.filter((transfer) => !refused.has(transfer.transfer_id));
}

async function findUnpayable(
  db: Db,
  { deps, merchant, chain, isCharge }: Work,
  transfers: readonly TransferRow[],
): Promise<MemberVerdict[]> {
  const { network } = chain;
  const addresses = transfers.map((transfer) => transfer.address);
  const listed = await deps.screen(db, merchant.mode, { network, addresses, moment: 'submit' });
  // A sweep goes to the hot wallet, and a charge comes from its address.
  const paid = isCharge ? [] : transfers.filter((transfer) => transfer.key_ref === KEY_REF);
  const recipients = { network, addresses: paid.map((transfer) => transfer.address) };
  const own = await deps.findOwnAddresses(db, merchant, recipients);
  return transfers.flatMap(({ transfer_id: transferId, address }): MemberVerdict[] => {
    if (listed.has(address)) return [{ transferId, to: 'failed', ...LISTED }];
    return own.has(address) ? [{ transferId, to: 'failed', ...OWN }] : [];
  });
}

type Built = { attempt: AttemptRow; signed: SignedTx } | { attempt: AttemptRow; fault: UnbuildableTransfer };

/**
 * Builds and signs what is reserved, and stores the bytes before anybody can send them.
 *
 * @throws HistoryChanged, SigningRefused
 */
export async function signReserved(work: Work): Promise<void> {
  const { deps, run, merchant, groupIds } = work;
  // A copy that knows that it is one asks for no signature: it would take a number of the original's.
  work.history.name ??= await assertSameHistory(deps.db);
  const history = work.history.name;
  // Read after the name: an adoption writes its name and new numbers at once, and an old number in the new name would be
  // another attempt's to whoever signs.
  const live = await readLiveAttempts(deps.db, merchant.merchantId, groupIds);
  const transfers = await readTransfers(deps.db, merchant.merchantId, groupIds);
  // Nobody is screened again: whoever signs may have given their bytes out to a process that died, or to the original of
  // this database. Another attempt would then pay the others of a batch twice.
  const reserved = live.filter(({ status }) => status === 'reserved');
  const built = await callForEach(work, reserved, (attempt) => build(work, { attempt, history }, transfers));
  crashPoint('build.after');
  await run.step(async (tx) => {
    await assertSameHistory(tx);
    for (const one of built) if ('fault' in one) await giveUpUnbuildable(tx, work, one, transfers);
    const signed = built.flatMap((one) =>
      'signed' in one ? [{ attemptId: one.attempt.attempt_id, signed: one.signed }] : [],
    );
    await storeSigned(tx, merchant.merchantId, signed);
    crashPoint('store.before-commit');
  });
  crashPoint('store.after-commit');
}

async function build(
  work: Work,
  { attempt, history }: { attempt: AttemptRow; history: string },
  transfers: readonly TransferRow[],
): Promise<Built> {
  const { deps, chain } = work;
  const { attempt_id: attemptId, group_id: groupId, sequence, ordinal } = attempt;
  if (ordinal === null) throw new Error('an attempt that waits for its bytes has an ordinal');
  try {
    const before = (from: bigint | null) => attemptsBefore(deps.db, { ...attempt, ordinal }, from);
    const signing = { history, attemptId, ordinal, previous: attempt.previous_id, before };
    const numbered = sequence === null ? {} : { sequence: String(sequence) };
    const by = { keyRef: attempt.key_ref, signing, ...numbered };
    const transfer = { ...by, asset: attempt.currency, batchId: attemptId };
    if (isEmptied(attempt)) {
      return { attempt, signed: await chain.buildTransfer({ ...transfer, items: [itemToUs(attempt)] }) };
    }
    const members = membersOf(attempt, transfers);
    const signed = work.isCharge
      ? await chain.buildCharge({ ...by, ...chargeIn(members) })
      : await chain.buildTransfer({ ...transfer, items: members.map(itemOf) });
    return { attempt, signed };
  } catch (error) {
    // A payment to ourselves that cannot be built is a bug, and stays a failure of the job. So does a sweep: emptied, it
    // would pay its own deposit address, where every unit counts as a payer's.
    const isToUs = isEmptied(attempt) || attempt.key_ref !== KEY_REF;
    if (!(error instanceof UnbuildableTransfer) || isToUs) throw error;
    deps.log.error({ attempt_id: attemptId, group_id: groupId, err: error }, 'a transaction cannot be built');
    return { attempt, fault: error };
  }
}

/** It has no transfers: it uses a sequence up that another attempt has given up. */
const isEmptied = (attempt: AttemptRow) => attempt.item_ids[0] === attempt.attempt_id;

const itemToUs = (attempt: AttemptRow): TransferItem => ({
  itemId: attempt.attempt_id,
  to: attempt.sender,
  amount: 1n,
});

function membersOf(attempt: AttemptRow, transfers: readonly TransferRow[]): TransferRow[] {
  const byId = new Map(transfers.map((transfer) => [transfer.transfer_id, transfer]));
  return attempt.item_ids.map((id) => {
    const transfer = byId.get(id);
    if (transfer === undefined) throw new Error('an attempt names a transfer that its group does not have');
    return transfer;
  });
}

function itemOf({ transfer_id: itemId, address: to, amount, memo }: TransferRow): TransferItem {
  return { itemId, to, amount, ...(memo === null ? {} : { memo }) };
}

function chargeIn([transfer, ...others]: readonly TransferRow[]) {
  if (transfer?.charge == null || others.length > 0) throw new Error('a charge is alone in its transaction');
  return { ...chargeOf(transfer.charge), chargeId: transfer.transfer_id, amount: transfer.amount };
}

async function giveUpUnbuildable(
  tx: Tx,
  work: Work,
  { attempt, fault }: { attempt: AttemptRow; fault: UnbuildableTransfer },
  transfers: readonly TransferRow[],
): Promise<void> {
  const { isCharge } = work;
  const members = attempt.item_ids.map((transferId) => ({ transferId, isCharge }));
  const verdicts = judgeUnbuildable(members, fault.message);
  await lockWalletOf(tx, attempt);
  await giveUp(tx, work, { attempt, verdicts, detail: fault.message }, transfers);
}
