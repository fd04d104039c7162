import type { Network } from '@florin/contract/money';
import {
  ChainUnavailable,
  depositIndexOf,
  SignerUnavailable,
  SigningBlocked,
  SigningRefused,
} from '../chains/port/index.ts';
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
import { keysToSettle } from './attempts/lending.ts';
import { type Reserved, reserveAttempts } from './attempts/reserve-attempts.ts';
import { signReserved } from './attempts/sign-reserved.ts';
import { broadcastSigned, type FinalityTimes, replaceStuck, watchSent } from './attempts/watch-attempts.ts';
import { type BlockedBy, blockedAfterAll, blockedByRefusal } from './blocked-by.ts';
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
import { type RunResult, scheduleNext } from './schedule-next.ts';
import type { SendContext, TransferDeps } from './send-context.ts';
import { ALARM_AFTER_SECONDS } from './states.ts';
import { topUpGas } from './wallets/prepare-wallet.ts';
import { WalletClosing, WalletRotated } from './wallets/present-wallet.ts';
import { isSweptByTank, reserveSweeps } from './wallets/reserve-sweeps.ts';
import { takeBack } from './wallets/take-back.ts';
import { WalletBehind } from './wallets/wallet-queries.ts';

/**
 * Transfers wait, as the hot wallet has insufficient coins; payload `{ network }`. `custody` handles it by ordering sweeps. Its
 * kind is part of stored jobs, so it keeps its name.
 */
export const INSUFFICIENT_COINS_JOB = 'transfers.short';
/** Groups of charges that run together. */
const CHARGES_MAX = 100;
/** Charges wait this long for a running batch, so that they run together too; a network may hang for longer. */
const CHARGES_WAIT_MS = 1_000;
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

/** What the groups of a run hold. Groups that run together are all charges of one network and token. */
interface GroupContent {
  network: Network;
  transfers: readonly TransferRow[];
  activation: ActivationRow | undefined;
}

/**
 * There are three kinds of group: of transfers; of one activation; and of a movement that people ordered, which has attempts
 * alone.
 *
 * @returns undefined where nothing is left to send
 */
async function readGroups(
  { db }: TransferDeps,
  merchantId: string,
  groupIds: readonly string[],
): Promise<GroupContent | undefined> {
  const transfers = await readTransfers(db, merchantId, groupIds);
  const [first] = transfers;
  if (first !== undefined) return { network: first.network, transfers, activation: undefined };
  const activation = await findActivationOf(db, merchantId, groupIds);
  if (activation !== undefined) return { network: activation.network, transfers, activation };
  const [attempt] = await readOpenAttempts(db, merchantId, groupIds);
  return attempt && { network: attempt.network, transfers, activation };
}

/** @returns the outcome of each group's job */
async function advanceTogether(deps: TransferDeps, groups: readonly GroupRun[]): Promise<JobOutcome[]> {
  const groupIds = groups.map(({ groupId }) => groupId);
  // The last one has the newest reading of the merchant's clock.
  const merchant = groups.at(-1)?.merchant;
  if (merchant === undefined) return [];
  const content = await readGroups(deps, merchant.merchantId, groupIds);
  if (content === undefined) return groups.map(() => 'done');
  const { network, transfers, activation } = content;
  const isCharge = transfers[0]?.charge != null;
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
  const result = await advance(context, open, activation);
  return await scheduleNext(context, { ...result, isOwing: await isOwing(context, transfers, result) });
}

/** Takes back what was lent for transfers that this run has found to be over. @returns whether a later run has to look again */
async function isOwing(
  context: SendContext,
  transfers: readonly TransferRow[],
  { blockedBy }: RunResult,
): Promise<boolean> {
  const { deps, merchant, chain, groupIds, nowSeconds } = context;
  const isLentTo = transfers.some(({ key_ref: keyRef }) => depositIndexOf(keyRef) !== null);
  if (!chain.capabilities.lendsStake || !isLentTo) return false;
  const over = keysToSettle(await readTransfers(deps.db, merchant.merchantId, groupIds), nowSeconds);
  if (over.length === 0) return false;
  if (blockedBy === 'stopped' || blockedBy === 'unavailable') return true;
  const blocked = await blockOnError(context, async () => {
    try {
      if (!(await checkFinalBlocks(deps, merchant, { network: chain.network, freshness: 'now' })))
        return 'stopped';
      return (await takeBack(context, over)) ? 'waiting' : 'none';
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      logUnavailable(context, error);
      return 'unavailable';
    }
  });
  return blocked !== 'none';
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
  if (!(await checkFinalBlocks(deps, merchant, { network, freshness: 'now' }))) return 'stopped';
  if (await isPausedByOperator(deps.db, merchant, network, currency)) {
    deps.log.warn({ network, currency, group_ids: groupIds }, 'paused, transfers wait');
    return 'waiting';
  }
  return await blockOnError(context, async () => {
    const { reached, waitsFor } = await reserveNext(context, queued, open);
    if (reached === 'all') return 'none';
    if (reached === 'insufficient_coins') await requestSweeps(context, first);
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
    enqueue(tx, [
      { merchantId, kind: INSUFFICIENT_COINS_JOB, uniqueKey: network, dueAtMs, followsClock: true, payload },
    ]),
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
      const what = error.reason === 'fee' ? 'fees are at their ceiling' : 'the signer would refuse it';
      logOncePerMinute(context, `${what}, transfers wait`, { err: error });
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
  const open = await readOpen(context);
  const isToSign = blockedBy !== 'stopped' && withStatus(open, 'reserved').length > 0;
  const signing = isToSign ? await signOpen(context) : 'none';
  const justSent = await sendOpen(context, isToSign ? await readOpen(context) : open);
  // What signing was blocked by is newer than what reserving was blocked by.
  const blocked = signing === 'none' ? blockedBy : signing;
  // Those that were sent before: the status of attempts sent just now is read in the next run.
  const { blockedBy: blockedNow, finality } = await watchOpen(context, withStatus(open, 'sent'), blocked);
  return { blockedBy: blockedNow, finality: new Map([...justSent, ...finality]) };
}

const readOpen = ({ deps, merchant, groupIds }: SendContext): Promise<AttemptRow[]> =>
  readOpenAttempts(deps.db, merchant.merchantId, groupIds);

const withStatus = (attempts: readonly AttemptRow[], status: AttemptRow['status']) =>
  attempts.filter((attempt) => attempt.status === status);

/** Signs the reserved attempts, which another run may have reserved long ago. */
async function signOpen(context: SendContext): Promise<BlockedBy> {
  const { deps, merchant, chain } = context;
  return await blockOnError(context, async () => {
    const isIntact = await checkFinalBlocks(deps, merchant, { network: chain.network, freshness: 'now' });
    return isIntact ? await signOrWait(context) : 'stopped';
  });
}

async function sendOpen(context: SendContext, open: readonly AttemptRow[]): Promise<FinalityTimes> {
  const signed = withStatus(open, 'signed');
  return signed.length > 0 ? await broadcastSigned(context, signed) : new Map();
}

/** Writes the outcomes of sent attempts, and replaces those that no block takes, unless signing is stopped. */
async function watchOpen(
  context: SendContext,
  sent: readonly AttemptRow[],
  blockedBy: BlockedBy,
): Promise<RunResult> {
  const { finality, waiting } = await watchSent(context, sent);
  if (blockedBy === 'stopped' || waiting.length === 0) return { blockedBy, finality };
  const blockedNow = await blockOnError(context, async () => {
    await topUpGas(context, waiting);
    await coverSignedMoves(context, waiting);
    await replaceStuck(context, waiting);
    return blockedBy;
  });
  return { blockedBy: blockedAfterAll(blockedBy, blockedNow), finality };
}

/** Where people have to act first, or the signer is away, what is sent already is watched all the same. */
async function signOrWait(context: SendContext): Promise<BlockedBy> {
  try {
    const { blocked, arePausing } = await signReserved(context);
    if (blocked === undefined) return arePausing ? 'held' : 'none';
    if (blocked.reason === 'tank' || blocked.reason === 'reverts') {
      logWaiting(context, blocked.reason === 'tank' ? 'tank_low' : 'call_reverts');
      return blockedByRefusal(blocked.reason);
    }
    // The signer may know of a rotation that this process has not noticed.
    if (blocked.reason === 'epoch') await context.deps.chains.refresh();
    logOncePerMinute(context, 'the signer signs no transfers until people act', {
      reason: blocked.reason,
      err: blocked,
    });
    return blockedByRefusal(blocked.reason);
  } catch (error) {
    if (!(error instanceof SignerUnavailable)) throw error;
    logOncePerMinute(context, 'the signer is unavailable, transfers wait', { err: error });
    return 'stopped';
  }
}
