import type { JobOutcome } from '../platform/jobs/index.ts';
import type { FinalityTimes } from './attempts/watch-attempts.ts';
import type { BlockedBy } from './blocked-by.ts';
import { findActivationOf } from './charges/activations.ts';
import { type AttemptRow, readOpenAttempts, readTransfers, type TransferRow } from './queries.ts';
import type { SendContext } from './send-context.ts';
import { ALARM_AFTER_SECONDS, nextRun } from './states.ts';

// When a group runs again: what `nextRun` decides, of the state in which a run has left the group.

/** What blocked a run, and when its sent attempts should be final. */
export interface RunResult {
  blockedBy: BlockedBy;
  finality: FinalityTimes;
  /** Something that the gas tank has lent for it may have to be taken back. */
  isOwing?: boolean;
}

/** @returns when the job of each group of the run goes on; `done` where nothing of it is left to decide */
export async function scheduleNext(context: SendContext, result: RunResult): Promise<JobOutcome[]> {
  const { deps, merchant, groupIds } = context;
  const transfers = await readTransfers(deps.db, merchant.merchantId, groupIds);
  const attempts = await readOpenAttempts(deps.db, merchant.merchantId, groupIds);
  const activation =
    transfers.length > 0 ? undefined : await findActivationOf(deps.db, merchant.merchantId, groupIds);
  // An activation that is open waits as a queued transfer does.
  const open = activation?.status === 'open' ? [{ ...activation, status: 'queued' as const }] : [];
  const ofGroup = Map.groupBy(transfers, (transfer) => transfer.group_id);
  const attemptsOf = Map.groupBy(attempts, (attempt) => attempt.group_id);
  return groupIds.map((groupId) => {
    const group = { transfers: ofGroup.get(groupId) ?? open, attempts: attemptsOf.get(groupId) ?? [] };
    return nextRunOf(context, result, { groupId, ...group });
  });
}

const newestOf = (list: readonly Pick<TransferRow, 'created_at'>[]) =>
  Math.max(...list.map((one) => Number(one.created_at)));

function nextRunOf(
  { deps, merchant, nowSeconds }: SendContext,
  { blockedBy, finality, isOwing = false }: RunResult,
  {
    groupId,
    transfers,
    attempts,
  }: {
    groupId: string;
    transfers: readonly Pick<TransferRow, 'status' | 'created_at' | 'completed_at'>[];
    attempts: readonly AttemptRow[];
  },
): JobOutcome {
  const ageSeconds = nowSeconds - (transfers.length > 0 ? newestOf(transfers) : newestOf(attempts));
  const open = transfers.filter((transfer) => transfer.completed_at === null).length;
  if (open > 0 && ageSeconds > ALARM_AFTER_SECONDS) {
    deps.log.warn(
      { group_id: groupId, transfers: open, age_seconds: ageSeconds },
      'transfers are undecided for long',
    );
  }
  const nowMs = deps.clock.nowMs();
  const unsigned = attempts.filter((attempt) => attempt.status === 'reserved').length;
  const sent = attempts.filter((attempt) => attempt.status !== 'reserved');
  const finalInMs = ({ attempt_id: id }: AttemptRow) => {
    const finalAt = finality.get(id);
    return finalAt === undefined ? undefined : (finalAt - merchant.clockOffset) * 1000 - nowMs;
  };
  const queued = transfers.filter((transfer) => transfer.status === 'queued').length;
  const again = nextRun({
    // Until the chain shows that it is back.
    blockedBy: isOwing && blockedBy === 'none' ? 'waiting' : blockedBy,
    ageSeconds,
    queued: queued + Number(isOwing),
    unsigned,
    sent: sent.map(finalInMs),
  });
  if (again === undefined) return 'done';
  return { againAtMs: nowMs + again.waitMs, followsClock: again.followsClock };
}
