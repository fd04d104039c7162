import { ChainUnavailable, SignerUnavailable, SigningBlocked, SigningRefused } from '../chains/port/index.ts';
import { loaderPer } from '../platform/db/loaders/index.ts';
import {
  crashPoint,
  enqueue,
  type Job,
  type JobOutcome,
  type JobRun,
  joinRuns,
} from '../platform/jobs/index.ts';
import { getMerchant, type Merchant } from '../stores/index.ts';
import { type Reserved, reserveAttempts } from './attempts/reserve-attempts.ts';
import { signReserved } from './attempts/sign-reserved.ts';
import { type FinalityTimes, replaceStuck, sendSigned, watchSent } from './attempts/watch-attempts.ts';
import { checkFinalBlocks } from './blocks/final-blocks.ts';
import { isStopped } from './blocks/network-stops.ts';
import { advanceActivation } from './charges/activate-mandate.ts';
import { type ActivationRow, findActivationOf } from './charges/activations.ts';
import { findChargeBatchKey } from './charges/charge-queries.ts';
import { failOutdatedCharges } from './charges/refuse-charges.ts';
import { reserveCharges } from './charges/reserve-charges.ts';
import { HistoryChanged, recordRefusal } from './history/history.ts';
import { logOncePerMinute, logUnavailable, logWaiting } from './log-waiting.ts';
import { isPausedByOperator } from './pauses.ts';
import { type AttemptRow, readOpenAttempts, readTransfers, type TransferRow } from './queries.ts';
import { coverSignedMoves } from './rotation/cover-moves.ts';
import type { SendContext, TransferDeps } from './send-context.ts';
import { type BlockedBy, nextRun } from './states.ts';
import { refuel } from './wallets/prepare-wallet.ts';
import { WalletClosing, WalletRotated } from './wallets/present-wallet.ts';
import { isSweptByTank, reserveSweeps } from './wallets/reserve-sweeps.ts';
import { WalletBehind } from './wallets/wallet-queries.ts';

/** Transfers wait for coins in the hot wallet; payload `{ network }`. `custody` handles it by ordering sweeps. */
export const SHORT_JOB = 'transfers.short';
/** Groups of charges that run together. */
const CHARGES_MAX = 100;
/** Charges wait this long for a running batch, so that they run together too; a network may hang for longer. */
const CHARGES_WAIT_MS = 1_000;
/** Transfers that are undecided for longer are logged as a warning. */
const ALARM_AFTER_SECONDS = 120;

/** What blocked a run, and when its sent attempts should be final. */
interface RunResult {
  blockedBy: BlockedBy;
  finality: FinalityTimes;
}

/** A job's group and its run. */
interface GroupRun {
  merchant: Merchant;
  groupId: string;
  run: JobRun;
}

/** One loader per process: charges that are due together share statements, chain calls and commits. */
const chargeRunsOf = loaderPer((deps: TransferDeps) => ({
  loadBatch: (_key, groups: readonly GroupRun[]) => advanceGroups(deps, groups),
  maxBatch: CHARGES_MAX,
  overlapAfterMs: CHARGES_WAIT_MS,
}));

/** Handles `SEND_JOB`: advances one group of transfers as far as possible, and again until all of them are decided. */
export async function sendTransfers(deps: TransferDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  crashPoint('send.claimed');
  const { merchantId } = job;
  const groupId = String(job.payload.groupId);
  const merchant = await getMerchant(deps.db, merchantId);
  const batchKey = await findChargeBatchKey(deps.db, merchantId, groupId);
  if (batchKey === undefined) return await advanceGroup(deps, { merchant, groupId, run });
  const ended = await chargeRunsOf(deps).load(`${merchantId} ${batchKey}`, { merchant, groupId, run });
  if (ended.status === 'rejected') throw ended.reason;
  return ended.value;
}

/** Advances groups together. Where that fails, each runs again alone, so that only the faulty one fails. */
async function advanceGroups(
  deps: TransferDeps,
  groups: readonly GroupRun[],
): Promise<PromiseSettledResult<JobOutcome>[]> {
  try {
    const outcomes = await advanceTogether(deps, groups);
    return outcomes.map((value) => ({ status: 'fulfilled', value }));
  } catch (reason) {
    if (groups.length === 1) return [{ status: 'rejected', reason }];
    return await Promise.allSettled(groups.map((group) => advanceGroup(deps, group)));
  }
}

async function advanceGroup(deps: TransferDeps, group: GroupRun): Promise<JobOutcome> {
  const [outcome = 'done'] = await advanceTogether(deps, [group]);
  return outcome;
}

/** @returns the outcome of each group's job */
async function advanceTogether(deps: TransferDeps, groups: readonly GroupRun[]): Promise<JobOutcome[]> {
  const groupIds = groups.map(({ groupId }) => groupId);
  // The last one has the newest reading of the merchant's clock.
  const merchant = groups.at(-1)?.merchant;
  if (merchant === undefined) return [];
  const transfers = await readTransfers(deps.db, merchant.merchantId, groupIds);
  const [first] = transfers;
  const activation =
    first === undefined ? await findActivationOf(deps.db, merchant.merchantId, groupIds) : undefined;
  // A movement that people ordered has a group without transfers.
  const network =
    first?.network ??
    activation?.network ??
    (await readOpenAttempts(deps.db, merchant.merchantId, groupIds))[0]?.network;
  if (network === undefined) return groups.map(() => 'done');
  const isCharge = first?.charge != null;
  const context: SendContext = {
    deps,
    run: joinRuns(groups.map((group) => group.run)),
    merchant,
    groupIds,
    chain: deps.chains.of(merchant, network),
    isCharge,
    nowSeconds: deps.clock.nowSeconds() + merchant.clockOffset,
    history: {},
  };
  const open = isCharge ? await failOutdatedCharges(context, transfers) : transfers;
  return await scheduleNext(context, await advance(context, open, activation));
}

async function advance(
  context: SendContext,
  transfers: readonly TransferRow[],
  activation: ActivationRow | undefined,
): Promise<RunResult> {
  try {
    const isStoppedNow = await isNetworkStopped(context);
    const blockedBy = isStoppedNow ? 'stopped' : await reserveIfReadable(context, transfers, activation);
    // Reserved and signed attempts continue while new ones are blocked: they may be on the chain already.
    return await sendAndWatch(context, blockedBy);
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    logUnavailable(context, error);
    return { blockedBy: 'unavailable', finality: new Map() };
  }
}

/** What cannot be read for new transactions holds up no older ones: others of the wallet may wait behind them. */
async function reserveIfReadable(
  context: SendContext,
  transfers: readonly TransferRow[],
  activation: ActivationRow | undefined,
): Promise<BlockedBy> {
  try {
    return await reserve(context, transfers, activation);
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    logUnavailable(context, error);
    return 'unavailable';
  }
}

async function isNetworkStopped(context: SendContext): Promise<boolean> {
  const { deps, merchant, chain } = context;
  if (!(await isStopped(deps.db, merchant, chain.network))) return false;
  logOncePerMinute(context, 'the network is stopped, transfers wait (florin networks list)');
  return true;
}

async function reserve(
  context: SendContext,
  transfers: readonly TransferRow[],
  activation: ActivationRow | undefined,
): Promise<BlockedBy> {
  const { deps, merchant, groupIds } = context;
  const queued = transfers.filter((transfer) => transfer.status === 'queued');
  const open = activation?.status === 'open' ? activation : undefined;
  const first = queued[0] ?? open;
  if (first === undefined) return 'none';
  const { network, currency } = first;
  if (merchant.status === 'suspended') {
    const fields = { merchantId: merchant.merchantId, network, currency, group_ids: groupIds };
    deps.log.info(fields, 'the merchant is suspended, transfers wait');
    return 'waiting';
  }
  if (!(await checkFinalBlocks(deps, merchant, { network, now: 'now' }))) return 'stopped';
  if (await isPausedByOperator(deps.db, merchant, network, currency)) {
    deps.log.warn({ network, currency, group_ids: groupIds }, 'paused, transfers wait');
    return 'waiting';
  }
  return await blockOnError(context, async () => {
    const { reached, waitsFor } = await reserveNext(context, queued, open);
    if (reached === 'all') return 'none';
    if (reached === 'short') await requestSweeps(context, first);
    if (waitsFor !== undefined) logWaiting(context, waitsFor);
    return 'waiting';
  });
}

async function reserveNext(
  context: SendContext,
  queued: readonly TransferRow[],
  activation: ActivationRow | undefined,
): Promise<Reserved> {
  if (activation !== undefined) return await advanceActivation(context, activation);
  if (context.isCharge) return await reserveCharges(context, queued);
  const isSwept = queued.some((transfer) => isSweptByTank(context.chain, transfer));
  return isSwept ? await reserveSweeps(context, queued) : await reserveAttempts(context, queued);
}

/** Part of the custody may be at deposit addresses: enqueues the job that sweeps them, and alarms after two minutes. */
async function requestSweeps(
  { deps, run, groupIds, nowSeconds }: SendContext,
  {
    merchant_id: merchantId,
    network,
    currency,
    created_at: createdAt,
  }: Pick<TransferRow, 'merchant_id' | 'network' | 'currency' | 'created_at'>,
): Promise<void> {
  const ageSeconds = nowSeconds - Number(createdAt);
  const fields = { merchantId, network, currency, group_ids: groupIds, age_seconds: ageSeconds };
  if (ageSeconds > ALARM_AFTER_SECONDS)
    deps.log.error(fields, 'a wallet has been short for long: transfers wait until it is funded');
  else deps.log.info(fields, 'a wallet is short, transfers wait');
  const dueAtMs = deps.clock.nowMs();
  const payload = { network };
  await run.step((tx) =>
    enqueue(tx, [{ merchantId, kind: SHORT_JOB, uniqueKey: network, dueAtMs, followsClock: true, payload }]),
  );
}

/** Runs a step that makes new transactions; alarms and blocks where this database may not know everything that was sent. */
async function blockOnError(context: SendContext, make: () => Promise<BlockedBy>): Promise<BlockedBy> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof WalletBehind) {
      const message =
        'a wallet was used elsewhere, or this database is an old copy: nothing new is sent from it';
      logOncePerMinute(context, message, { err: error });
      return 'waiting';
    }
    if (error instanceof WalletRotated) {
      // The next run has the present one.
      await context.deps.chains.refresh();
      context.deps.log.info({ network: error.network, group_ids: context.groupIds }, error.message);
      return 'stopped';
    }
    if (error instanceof WalletClosing) {
      const fields = { network: error.network, group_ids: context.groupIds };
      context.deps.log.info(fields, 'the hot wallet is being rotated, transfers wait');
      return 'waiting';
    }
    if (error instanceof SigningBlocked) {
      logOncePerMinute(context, 'fees are at their ceiling, transfers wait', { err: error });
      return 'waiting';
    }
    if (error instanceof SigningRefused) await recordRefusal(context.deps.db, error.history);
    else if (!(error instanceof HistoryChanged)) throw error;
    const message =
      'this database is a copy, or another copy of it sends: payouts wait (florin ledger adopt-history)';
    logOncePerMinute(context, message, { event: 'history_changed', err: error });
    return 'stopped';
  }
}

/**
 * Signs, sends and watches the group's open attempts. Signed bytes are sent whatever blocks the group: they pay once,
 * however often they are sent.
 */
async function sendAndWatch(context: SendContext, blockedBy: BlockedBy): Promise<RunResult> {
  const readOpen = (): Promise<AttemptRow[]> =>
    readOpenAttempts(context.deps.db, context.merchant.merchantId, context.groupIds);
  const withStatus = (attempts: readonly AttemptRow[], status: AttemptRow['status']) =>
    attempts.filter((attempt) => attempt.status === status);
  const before = await readOpen();
  const reserved = withStatus(before, 'reserved');
  const isToSign = reserved.length > 0 && blockedBy !== 'stopped';
  const sign = async (): Promise<BlockedBy> => {
    // They may have been reserved long ago, by another run.
    if (
      !(await checkFinalBlocks(context.deps, context.merchant, {
        network: context.chain.network,
        now: 'now',
      }))
    )
      return 'stopped';
    return await signOrWait(context);
  };
  const signing = isToSign ? await blockOnError(context, sign) : 'none';
  const signed = withStatus(isToSign ? await readOpen() : before, 'signed');
  const justSent = signed.length > 0 ? await sendSigned(context, signed) : [];
  // The status of attempts sent just now is read in the next run.
  const watched = await watchSent(context, withStatus(before, 'sent'));
  const finality = new Map([...justSent, ...watched.finality]);
  const blocked = signing === 'none' ? blockedBy : signing;
  if (blocked === 'stopped' || watched.waiting.length === 0) return { blockedBy: blocked, finality };
  const replace = async (): Promise<BlockedBy> => {
    await refuel(context, watched.waiting);
    await coverSignedMoves(context, watched.waiting);
    await replaceStuck(context, watched.waiting);
    return blocked;
  };
  return { blockedBy: await blockOnError(context, replace), finality };
}

/** Where people have to act first, or the signer is away, what is sent already is watched all the same. */
async function signOrWait(context: SendContext): Promise<BlockedBy> {
  try {
    const blocked = await signReserved(context);
    if (blocked === undefined) return 'none';
    // The signer may know of a rotation that this process has not noticed.
    if (blocked.reason === 'epoch') await context.deps.chains.refresh();
    logOncePerMinute(context, 'the signer signs no transfers until people act', {
      reason: blocked.reason,
      err: blocked,
    });
    return 'stopped';
  } catch (error) {
    if (!(error instanceof SignerUnavailable)) throw error;
    logOncePerMinute(context, 'the signer is unavailable, transfers wait', { err: error });
    return 'stopped';
  }
}

/** @returns when the job of each group of the run goes on; `done` where nothing of it is left to decide */
async function scheduleNext(context: SendContext, result: RunResult): Promise<JobOutcome[]> {
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
  { blockedBy, finality }: RunResult,
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
  const again = nextRun({
    blockedBy,
    ageSeconds,
    queued: transfers.filter((transfer) => transfer.status === 'queued').length,
    unsigned,
    sent: sent.map(finalInMs),
  });
  if (again === undefined) return 'done';
  return { againAtMs: nowMs + again.waitMs, followsClock: again.followsClock };
}
