import { sql } from 'kysely';
import { newId } from '../../platform/db/ids/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import { type AttemptRow, closeAttempts, type TransferRow, writeOutcomes } from '../queries.ts';
import { notifyOwners } from '../request-transfers.ts';
import type { StepContext } from '../send-context.ts';
import type { TransferVerdict } from '../states.ts';
import { lockWallet, takeOrdinal } from '../wallets/wallet-queries.ts';

/** Writes transfers that fail or go back to the queue without a transaction. */
export async function writeUnsent(
  tx: Tx,
  context: StepContext,
  verdicts: readonly TransferVerdict[],
  transfers: readonly TransferRow[],
): Promise<void> {
  const outcomes = verdicts.map((verdict) => ({ ...verdict, txId: null }));
  await writeOutcomes(tx, context.merchant.merchantId, outcomes, context.nowSeconds);
  const over = new Set(verdicts.filter((verdict) => verdict.to !== 'queued').map((v) => v.transferId));
  await notifyOwners(
    tx,
    context,
    transfers.filter((transfer) => over.has(transfer.transfer_id)),
  );
}

/** Locks the wallet of an attempt. Lock order: wallets before attempts, as an adoption of the history does. */
export async function lockWalletOf(tx: Tx, { network, sender }: AttemptRow): Promise<void> {
  await lockWallet(tx, { network, sender, chainNext: null });
}

/** Fails an attempt as `abandonAttempt` does, and its transfers with it. */
export async function abandonWithTransfers(
  tx: Tx,
  context: StepContext,
  {
    attempt,
    verdicts,
    detail,
  }: { attempt: AttemptRow; verdicts: readonly TransferVerdict[]; detail: string },
  transfers: readonly TransferRow[],
): Promise<void> {
  const isAbandoned = await abandonAttempt(tx, attempt, { detail, nowSeconds: context.nowSeconds });
  if (isAbandoned) await writeUnsent(tx, context, verdicts, transfers);
}

/**
 * Fails an attempt that has no stored bytes, under the lock of its wallet. The holder may have signed it all the same and
 * signs nothing else under its id, so its sequence goes to another attempt, which pays nobody.
 *
 * @returns whether it had no outcome before
 */
export async function abandonAttempt(
  tx: Tx,
  attempt: AttemptRow,
  { detail, nowSeconds }: { detail: string; nowSeconds: number },
): Promise<boolean> {
  const verdict = { attempt: 'failed' as const, transfers: [] };
  const closing = { attempt, verdict, detail, height: null, fee: null, signed: null, paidBy: new Map() };
  const [closed] = await closeAttempts(tx, attempt.merchant_id, [closing], nowSeconds);
  if (closed === undefined) return false;
  if (attempt.sequence !== null) await passOnSequence(tx, attempt, { detail, nowSeconds });
  return true;
}

async function passOnSequence(
  tx: Tx,
  attempt: AttemptRow,
  { detail, nowSeconds }: { detail: string; nowSeconds: number },
): Promise<void> {
  const { merchant_id: merchantId, attempt_id: givenUp, network, sender, sequence } = attempt;
  const attemptId = newId();
  const { ordinal, previous } = await takeOrdinal(tx, attempt, attemptId);
  await sql`
    update transfer_attempt set sequence = null
    where merchant_id = ${merchantId} and attempt_id = ${givenUp}`.execute(tx);
  await tx
    .insertInto('transfer_attempt')
    .values({
      merchant_id: merchantId,
      attempt_id: attemptId,
      group_id: attempt.group_id,
      network,
      currency: attempt.currency,
      key_ref: attempt.key_ref,
      sender,
      sequence,
      ordinal,
      previous_id: previous,
      status: 'reserved',
      // An attempt whose item is itself only uses its sequence up.
      item_ids: [attemptId],
      detail,
      created_at: nowSeconds,
    })
    .execute();
  await sql`
    update wallet_sequence set attempt_id = ${attemptId}
    where network = ${network} and sender = ${sender} and sequence = ${sequence}`.execute(tx);
}
