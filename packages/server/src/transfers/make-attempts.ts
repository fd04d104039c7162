import { type SignedTx, type TransferItem, UnbuildableTransfer } from '../chains/index.ts';
import { crashPoint } from '../platform/crash-point.ts';
import type { Tx } from '../platform/db.ts';
import { newId } from '../platform/ids.ts';
import { assertSameHistory } from './history.ts';
import {
  type AttemptRow,
  closeAttempts,
  emptyAttempt,
  insertAttempts,
  lockQueued,
  moveMembers,
  readTransfers,
  storeSigned,
  type TransferRow,
} from './queries.ts';
import { judgeUnbuildable, type MemberVerdict, planAttempts } from './states.ts';
import { takeSequences } from './wallet-queries.ts';
import { callForEach, KEY_REF, tellOwners, type Work } from './work.ts';

/** Gives every queued transfer an attempt, and the attempts their sequences. @throws WalletBehind, HistoryChanged */
export async function reserveAttempts(work: Work): Promise<void> {
  const { run, merchant, groupId, chain } = work;
  const sender = await chain.sender(KEY_REF);
  const chainNext = await chain.nextSequence(sender);
  crashPoint('reserve.before');
  await run.step(async (tx) => {
    await assertSameHistory(tx);
    const queued = await lockQueued(tx, merchant.merchantId, groupId);
    const clean = await refuseListed(tx, work, queued);
    const groups = planAttempts(clean, chain.caps.maxItemsPerTx);
    if (groups.length === 0) return;
    const attempts = groups.map((members) => ({ attemptId: newId(), members }));
    const ids = attempts.map((attempt) => attempt.attemptId);
    const wallet =
      chainNext === null ? null : { network: chain.network, sender, chainNext: BigInt(chainNext) };
    const sequences = wallet === null ? [] : await takeSequences(tx, wallet, ids);
    const numbered = attempts.map((attempt, i) => ({ ...attempt, sequence: sequences[i] ?? null }));
    await insertAttempts(tx, numbered, { sender, nowSeconds: work.nowSeconds });
    crashPoint('reserve.before-commit');
  });
  crashPoint('reserve.after-commit');
}

/** An address listed since it was submitted fails before anything is signed for it. @returns the others */
async function refuseListed(tx: Tx, work: Work, queued: readonly TransferRow[]): Promise<TransferRow[]> {
  const { deps, merchant, chain } = work;
  const addresses = queued.map((transfer) => transfer.address);
  const listed = await deps.screen(tx, merchant.mode, {
    network: chain.network,
    addresses,
    moment: 'submit',
  });
  const refused = queued.filter((transfer) => listed.has(transfer.address));
  const verdicts = refused.map(
    ({ transfer_id: transferId }): MemberVerdict => ({
      transferId,
      to: 'failed',
      code: 'address_risk',
      message: 'The address is on the risk list.',
    }),
  );
  await writeUnsent(tx, work, verdicts, refused);
  return queued.filter((transfer) => !listed.has(transfer.address));
}

/** Transfers that end or go back without a transaction. */
async function writeUnsent(
  tx: Tx,
  work: Work,
  verdicts: readonly MemberVerdict[],
  transfers: readonly TransferRow[],
): Promise<void> {
  const outcomes = verdicts.map((verdict) => ({ ...verdict, txId: null }));
  await moveMembers(tx, work.merchant.merchantId, outcomes, work.nowSeconds);
  const over = new Set(verdicts.filter((verdict) => verdict.to !== 'queued').map((v) => v.transferId));
  await tellOwners(
    tx,
    work,
    transfers.filter((transfer) => over.has(transfer.transfer_id)),
  );
}

type Built = { attempt: AttemptRow; signed: SignedTx } | { attempt: AttemptRow; fault: UnbuildableTransfer };

/** Builds and signs what is reserved, and stores the bytes before anybody can send them. @throws HistoryChanged */
export async function signReserved(work: Work, reserved: readonly AttemptRow[]): Promise<void> {
  const { deps, run, merchant, groupId } = work;
  const transfers = await readTransfers(deps.db, merchant.merchantId, groupId);
  const built = await callForEach(work, reserved, (attempt) => build(work, attempt, transfers));
  crashPoint('build.after');
  await run.step(async (tx) => {
    await assertSameHistory(tx);
    const signed = built.flatMap((one) =>
      'signed' in one ? [{ attemptId: one.attempt.attempt_id, signed: one.signed }] : [],
    );
    await storeSigned(tx, merchant.merchantId, signed);
    for (const one of built) if ('fault' in one) await giveUp(tx, work, one, transfers);
    crashPoint('store.before-commit');
  });
  crashPoint('store.after-commit');
}

async function build(work: Work, attempt: AttemptRow, transfers: readonly TransferRow[]): Promise<Built> {
  const { deps, chain, groupId } = work;
  const { attempt_id: attemptId, sequence } = attempt;
  try {
    const signed = await chain.buildTransfer({
      keyRef: KEY_REF,
      asset: attempt.currency,
      batchId: attemptId,
      items: isEmptied(attempt) ? [itemToUs(attempt)] : itemsOf(attempt, transfers),
      ...(sequence === null ? {} : { sequence: String(sequence) }),
    });
    return { attempt, signed };
  } catch (error) {
    // A payment to ourselves that cannot be built is a bug, and stays a failure of the job.
    if (!(error instanceof UnbuildableTransfer) || isEmptied(attempt)) throw error;
    deps.log.error({ attempt_id: attemptId, group_id: groupId, err: error }, 'a transaction cannot be built');
    return { attempt, fault: error };
  }
}

/** Its transfers were taken out; what is left of it is its sequence. */
const isEmptied = (attempt: AttemptRow) => attempt.item_ids[0] === attempt.attempt_id;

const itemToUs = (attempt: AttemptRow): TransferItem => ({
  itemId: attempt.attempt_id,
  to: attempt.sender,
  amount: 1n,
});

function itemsOf(attempt: AttemptRow, transfers: readonly TransferRow[]): TransferItem[] {
  const byId = new Map(transfers.map((transfer) => [transfer.transfer_id, transfer]));
  return attempt.item_ids.map((id) => {
    const transfer = byId.get(id);
    if (transfer === undefined) throw new Error('an attempt names a transfer that its group does not have');
    const { transfer_id: itemId, address: to, amount, memo } = transfer;
    return { itemId, to, amount, ...(memo === null ? {} : { memo }) };
  });
}

async function giveUp(
  tx: Tx,
  work: Work,
  { attempt, fault }: { attempt: AttemptRow; fault: UnbuildableTransfer },
  transfers: readonly TransferRow[],
): Promise<void> {
  const members = attempt.item_ids.map((transferId) => ({ transferId }));
  await writeUnsent(tx, work, judgeUnbuildable(members, fault.message), transfers);
  if (attempt.sequence !== null) return await emptyAttempt(tx, attempt, fault.message);
  const closing = { attempt, verdict: { attempt: 'failed' as const, members: [] }, detail: fault.message };
  await closeAttempts(tx, work.merchant.merchantId, [closing], work.nowSeconds);
}
