import type { Tx } from '../../platform/db/index.ts';
import { enqueue } from '../../platform/jobs/index.ts';
import type { Merchant } from '../../stores/index.ts';
import { lockQueuedAndHeld, type TransferRow, writeOutcomes } from '../queries.ts';
import { decidedJob } from '../request-transfers.ts';
import type { SendContext } from '../send-context.ts';
import type { TransferFailure } from '../states.ts';
import { type ChargedWallet, lockAwaitingCharges, lockQueuedCharges } from './charge-queries.ts';

// Charges that fail without a transaction. A charge that may be on the chain continues, and the chain decides it.

interface Refusal {
  code: TransferFailure;
  message: string;
}

const REVOKED: Refusal = {
  code: 'mandate_revoked',
  message: 'The mandate was revoked before the charge was sent. Nothing was paid.',
};
const UNAPPROVED: Refusal = {
  code: 'insufficient_allowance',
  message: 'The wallet allows less than the price, so the charge was not sent. Nothing was paid.',
};
/** Not the payer's failure: the invoice is charged again later, at the rate of that time. */
const SUSPENDED: Refusal = {
  code: 'network_unavailable',
  message: 'The merchant was suspended before the charge was sent. Nothing was paid.',
};

/**
 * Fails the queued charges of a mandate, in the transaction that revokes it.
 *
 * @param mandate `isUnapproved`: because its wallet allows too little
 */
export async function refuseCharges(
  tx: Tx,
  merchantId: string,
  { isUnapproved, ...mandate }: ChargedWallet & { mandateId: string; isUnapproved: boolean },
  now: { seconds: number; realMs: number },
): Promise<void> {
  const queued = await lockQueuedCharges(tx, merchantId, mandate);
  await failQueued(tx, queued, isUnapproved ? UNAPPROVED : REVOKED, now);
}

/** Not the payer's failure either. */
const WITHDRAWN: Refusal = {
  code: 'network_unavailable',
  message: 'The subscription ended, or got another wallet, before the charge was sent. Nothing was paid.',
};

/**
 * Fails those of these charges that wait for their mandate's activation, whoever brings that to the network. Nobody else hears
 * of it: the caller ends their payments in the same transaction.
 *
 * @param groupIds the charges' payments
 * @returns those of them that have failed
 */
export async function withdrawCharges(
  tx: Tx,
  merchantId: string,
  groupIds: readonly string[],
  nowSeconds: number,
): Promise<string[]> {
  const waiting = await lockAwaitingCharges(tx, merchantId, groupIds);
  await writeRefused(tx, waiting, WITHDRAWN, nowSeconds);
  return waiting.map(({ group_id: groupId }) => groupId);
}

const OUTDATED: Refusal = {
  code: 'network_unavailable',
  message: 'The charge could not be sent within its period. Nothing was paid.',
};
/** Networks take a charge until a week after its window: one that waited for us this long is ordered anew. */
const LATE_SECONDS = 6 * 86_400;

function isOutdated({ charge }: TransferRow, nowSeconds: number): boolean {
  return charge !== null && charge.windowEnd + LATE_SECONDS < nowSeconds;
}

/** Whether a queued charge was ordered before or during a suspension of its merchant. */
function isSuspended(
  { created_at: orderedAt }: TransferRow,
  { status, resumedAt }: Pick<Merchant, 'status' | 'resumedAt'>,
): boolean {
  return status === 'suspended' || (resumedAt !== null && Number(orderedAt) < resumedAt);
}

/**
 * Fails queued charges of a merchant that is suspended, or was since they were ordered: their price is outdated. So is that of
 * charges whose window was over before they could be sent; a network would refuse them as if they were above the cap.
 *
 * @returns the other transfers
 */
export async function failOutdatedCharges(
  { deps, run, merchant, groupIds, nowSeconds }: SendContext,
  transfers: readonly TransferRow[],
): Promise<readonly TransferRow[]> {
  const isToEnd = (one: TransferRow) =>
    one.status === 'queued' && (isSuspended(one, merchant) || isOutdated(one, nowSeconds));
  if (!transfers.some(isToEnd)) return transfers;
  await run.step(async (tx) => {
    const queued = (await lockQueuedAndHeld(tx, merchant.merchantId, groupIds)).filter(isToEnd);
    const now = { seconds: nowSeconds, realMs: deps.clock.nowMs() };
    const suspended = queued.filter((one) => isSuspended(one, merchant));
    await failQueued(tx, suspended, SUSPENDED, now);
    const late = queued.filter((one) => !suspended.includes(one));
    await failQueued(tx, late, OUTDATED, now);
  });
  return transfers.filter((one) => !isToEnd(one));
}

async function failQueued(
  tx: Tx,
  queued: readonly TransferRow[],
  refusal: Refusal,
  now: { seconds: number; realMs: number },
): Promise<void> {
  await writeRefused(tx, queued, refusal, now.seconds);
  await enqueue(
    tx,
    queued.map(({ merchant_id: merchantId, owner_type: ownerType, group_id: groupId }) => ({
      merchantId,
      kind: decidedJob(ownerType),
      uniqueKey: groupId,
      dueAtMs: now.realMs,
      payload: { groupId },
    })),
  );
}

async function writeRefused(
  tx: Tx,
  queued: readonly TransferRow[],
  refusal: Refusal,
  nowSeconds: number,
): Promise<void> {
  const [first] = queued;
  if (first === undefined) return;
  const outcomes = queued.map(({ transfer_id: transferId }) => ({
    transferId,
    to: 'failed' as const,
    ...refusal,
    txId: null,
  }));
  await writeOutcomes(tx, first.merchant_id, outcomes, nowSeconds);
}
