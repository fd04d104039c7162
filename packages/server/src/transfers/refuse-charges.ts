import type { Tx } from '../platform/db.ts';
import { enqueue } from '../platform/jobs/index.ts';
import { type ChargedWallet, lockQueuedCharges } from './charge-queries.ts';
import { moveMembers } from './queries.ts';
import { decidedJob } from './work.ts';

/**
 * Ends the charges of a mandate that is no more, in the transaction that takes it back: those without a transaction are
 * over, those that may be on the chain go on, as the chain decides them.
 */
export async function refuseCharges(
  tx: Tx,
  merchantId: string,
  mandate: ChargedWallet & { mandateId: string },
  now: { seconds: number; realMs: number },
): Promise<void> {
  const queued = await lockQueuedCharges(tx, merchantId, mandate);
  if (queued.length === 0) return;
  const outcomes = queued.map(({ transfer_id: transferId }) => ({
    transferId,
    to: 'failed' as const,
    code: 'mandate_revoked' as const,
    message: 'The mandate was revoked before the charge was sent. Nothing was paid.',
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
