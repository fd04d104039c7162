import type { Tx } from '../platform/db/index.ts';
import { enqueue } from '../platform/jobs/index.ts';
import { insertTransfers, type TransferOrder, type TransferRow } from './queries.ts';
import type { StepContext } from './send-context.ts';

/** Advances the transfers of one group; payload `{ groupId }`. */
export const SEND_JOB = 'transfers.send';
/** Kind of the job that reports an outcome to the owner: `payout_item.decided`, payload `{ groupId }`. */
export const decidedJob = (ownerType: string) => `${ownerType}.decided`;

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

/** Enqueues the `decided` jobs of the transfers' owners, in the transaction that decides the transfers. */
export async function notifyOwners(
  tx: Tx,
  { deps, merchant }: Pick<StepContext, 'deps' | 'merchant'>,
  transfers: readonly TransferRow[],
): Promise<void> {
  const owners = new Map(transfers.map((one) => [`${one.owner_type} ${one.group_id}`, one]));
  await enqueue(
    tx,
    [...owners.values()].map(({ owner_type: ownerType, group_id: groupId }) => ({
      merchantId: merchant.merchantId,
      kind: decidedJob(ownerType),
      uniqueKey: groupId,
      dueAtMs: deps.clock.nowMs(),
      payload: { groupId },
    })),
  );
}
