import type { Tx } from '../platform/db/index.ts';
import { enqueue } from '../platform/jobs/index.ts';
import type { Merchant } from '../stores/index.ts';
import { type ChargedWallet, lockQueuedCharges } from './charge-queries.ts';
import { lockQueued, moveMembers, type TransferRow } from './queries.ts';
import type { TransferFailure } from './states.ts';
import { decidedJob, type Work } from './work.ts';

// Charges that end without a transaction. Those that may be on the chain go on, as the chain decides them.

interface Refusal {
  code: TransferFailure;
  message: string;
}

const REVOKED: Refusal = {
  code: 'mandate_revoked',
  message: 'The mandate was revoked before the charge was sent. Nothing was paid.',
};
/** Nobody's failure: the invoice is charged again at the price of that time. */
const SUSPENDED: Refusal = {
  code: 'network_unavailable',
  message: 'The merchant was suspended before the charge was sent. Nothing was paid.',
};

/** Ends the charges of a mandate that is no more, in the transaction that takes it back. */
export async function refuseCharges(
  tx: Tx,
  merchantId: string,
  mandate: ChargedWallet & { mandateId: string },
  now: { seconds: number; realMs: number },
): Promise<void> {
  await endQueued(tx, await lockQueuedCharges(tx, merchantId, mandate), REVOKED, now);
}

/** Whether a charge without a transaction was ordered before its merchant went on after a suspension. */
function isSuspended(
  { created_at: orderedAt }: TransferRow,
  { status, resumedAt }: Pick<Merchant, 'status' | 'resumedAt'>,
): boolean {
  return status === 'suspended' || (resumedAt !== null && Number(orderedAt) < resumedAt);
}

/**
 * Ends queued charges of a merchant that is suspended, or was since they were ordered: their price is of before.
 *
 * @returns the other transfers
 */
export async function endSuspendedCharges(
  { deps, run, merchant, groupIds, nowSeconds }: Work,
  transfers: readonly TransferRow[],
): Promise<readonly TransferRow[]> {
  const isToEnd = (one: TransferRow) => one.status === 'queued' && isSuspended(one, merchant);
  if (!transfers.some(isToEnd)) return transfers;
  await run.step(async (tx) => {
    const queued = (await lockQueued(tx, merchant.merchantId, groupIds)).filter(isToEnd);
    await endQueued(tx, queued, SUSPENDED, { seconds: nowSeconds, realMs: deps.clock.nowMs() });
  });
  return transfers.filter((one) => !isToEnd(one));
}

async function endQueued(
  tx: Tx,
  queued: readonly TransferRow[],
  refusal: Refusal,
  now: { seconds: number; realMs: number },
): Promise<void> {
  const [first] = queued;
  if (first === undefined) return;
  const { merchant_id: merchantId } = first;
  const outcomes = queued.map(({ transfer_id: transferId }) => ({
    transferId,
    to: 'failed' as const,
    ...refusal,
    txId: null,
  }));
  await moveMembers(tx, merchantId, outcomes, now.seconds);
  await enqueue(
    tx,
    queued.map(({ owner_type: ownerType, group_id: groupId }) => ({
      merchantId,
      kind: decidedJob(ownerType),
      uniqueKey: groupId,
      dueAtMs: now.realMs,
      payload: { groupId },
    })),
  );
}
