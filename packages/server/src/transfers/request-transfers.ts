import type { Tx } from '../platform/db/index.ts';
import { enqueue } from '../platform/jobs/index.ts';
import { insertTransfers, type TransferOrder } from './queries.ts';
import { SEND_JOB } from './send-transfers.ts';

/**
 * Orders transfers of one group (same network and currency), in the transaction of their cause. Each succeeds or fails
 * exactly once; the job `<ownerType>.decided` reports it to the owner.
 */
export async function requestTransfers(
  tx: Tx,
  merchantId: string,
  orders: readonly TransferOrder[],
  now: { seconds: number; realMs: number },
): Promise<void> {
  const [first] = orders;
  if (first === undefined) return;
  await insertTransfers(tx, merchantId, orders, now.seconds);
  await enqueue(tx, [
    {
      merchantId,
      kind: SEND_JOB,
      uniqueKey: first.groupId,
      dueAtMs: now.realMs,
      followsClock: true,
      payload: { groupId: first.groupId },
    },
  ]);
}
