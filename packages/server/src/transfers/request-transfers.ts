import type { Tx } from '../platform/db/index.ts';
import { enqueue } from '../platform/jobs/index.ts';
import { insertTransfers, type TransferOrder } from './queries.ts';
import { SEND_JOB } from './send-job.ts';

/**
 * Orders transfers, in the transaction of their cause; those of one group have one network and currency. Each succeeds or
 * fails exactly once; the job `<ownerType>.decided` of its group reports it to the owner.
 */
export async function requestTransfers(
  tx: Tx,
  merchantId: string,
  orders: readonly TransferOrder[],
  now: { seconds: number; realMs: number },
): Promise<void> {
  if (orders.length === 0) return;
  await insertTransfers(tx, merchantId, orders, now.seconds);
  const groups = new Map(orders.map(({ groupId, trace }) => [groupId, trace]));
  const jobs = [...groups].map(([groupId, trace]) => ({
    merchantId,
    kind: SEND_JOB,
    uniqueKey: groupId,
    dueAtMs: now.realMs,
    followsClock: true,
    payload: { groupId },
    trace,
  }));
  await enqueue(tx, jobs);
}
