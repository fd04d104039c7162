import {
  ChainUnavailable,
  type SignedTx,
  SignerUnavailable,
  SigningBlocked,
  UnbuildableTransfer,
} from '../../chains/port/index.ts';
import { crashPoint, enqueue } from '../../platform/jobs/index.ts';
import { isLineDue } from '../../platform/observability/index.ts';
import { dollarsOf } from '../../rates/index.ts';
import { keepSignerJournal } from '../approvals/signer-journal.ts';
import { auditJob } from '../blocks/audit-job.ts';
import { checkFinalBlocks } from '../blocks/final-blocks.ts';
import { assertSameHistory } from '../history/history.ts';
import { findPayers, unbookStrays } from '../history/paid-before.ts';
import {
  type AttemptOutcome,
  type AttemptRow,
  closeAttempts,
  markSent,
  readTransfers,
  signedOf,
  TANK_KEY_REF,
} from '../queries.ts';
import { notifyOwners } from '../request-transfers.ts';
import { callForEach, type SendContext } from '../send-context.ts';
import {
  ALARM_AFTER_SECONDS,
  decideReplacement,
  judgeAttempt,
  REPLACE_AFTER_SECONDS,
  secondsSince,
} from '../states.ts';
import { fillGap, storedGap } from '../wallets/fill-gap.ts';
import { isOutdatedMove } from '../wallets/present-wallet.ts';
import { readFirstOrdinal } from '../wallets/wallet-queries.ts';
import { movementOf, paysNobody } from './movements.ts';
import { buildAttempt } from './sign-reserved.ts';
import { adoptVersion, readDeciding, readVersions, storeVersion } from './versions.ts';

/** When sent attempts should be final (Unix seconds of the merchant's clock), by their ids. */
export type FinalityTimes = ReadonlyMap<string, number>;

const finalityTimesOf = (
  attempts: readonly AttemptRow[],
  results: readonly { finalAt?: number | undefined }[],
): FinalityTimes =>
  new Map(
    attempts.flatMap(({ attempt_id: id }, i): [string, number][] => {
      const finalAt = results[i]?.finalAt;
      return finalAt === undefined ? [] : [[id, finalAt]];
    }),
  );

/** Sends stored bytes. Whatever the node answers, even nothing, they may be on the network: the chain decides. */
export async function broadcastSigned(
  context: SendContext,
  signed: readonly AttemptRow[],
): Promise<FinalityTimes> {
  const answers = await callForEach(context, signed, (attempt) => broadcast(context, signedOf(attempt)));
  const ids = signed.map((attempt) => attempt.attempt_id);
  crashPoint('mark.before');
  await context.run.step((tx) => markSent(tx, context.merchant.merchantId, ids, context.nowSeconds));
  crashPoint('mark.after-commit');
  const unavailable = answers.find((answer) => answer.unavailable !== undefined)?.unavailable;
  if (unavailable !== undefined) throw unavailable;
  return finalityTimesOf(signed, answers);
}

/** A node's answer to a broadcast: unavailable, or when the transaction should be final. */
interface BroadcastResult {
  unavailable?: ChainUnavailable;
  finalAt?: number | undefined;
}

/** Sends stored bytes once. */
async function broadcast(context: SendContext, signed: SignedTx): Promise<BroadcastResult> {
  try {
    crashPoint('broadcast.before');
    const answer = await context.chain.broadcast(signed);
    crashPoint('broadcast.after');
    if (answer.result !== 'rejected') return { finalAt: answer.finalAt };
    const fields = { tx_id: signed.txId, code: answer.code };
    context.deps.log.warn(fields, 'a node rejected a transaction; the chain decides');
    return {};
  } catch (error) {
    if (error instanceof ChainUnavailable) return { unavailable: error };
    throw error;
  }
}

export interface Watched {
  finality: FinalityTimes;
  /** Attempts of which no version is in a block. */
  waiting: AttemptRow[];
}

/**
 * Reads the status of sent attempts, sends unseen ones again, and writes the outcomes of decided ones.
 *
 * @throws ChainUnavailable where one cannot be read, after the outcomes of the others are written
 */
export async function watchSent(context: SendContext, sent: readonly AttemptRow[]): Promise<Watched> {
  const versions = await readVersions(context.deps.db, sent);
  // Where none of those that were asked together can be read, the network is away.
  let away: PollResult[] = [];
  const polled = await callForEach(context, sent, async (attempt) => {
    const [last] = away;
    if (last !== undefined && away.length >= context.chain.capabilities.callsAtOnce) return last;
    const result = await tryPoll(context, attempt, versions.get(attempt.attempt_id) ?? []);
    away = result.unavailable === undefined ? [] : [...away, result];
    return result;
  });
  crashPoint('watch.looked');
  const outcomes = polled.flatMap(({ outcome }) => outcome ?? []);
  if (outcomes.length > 0) {
    // The block that decides an attempt is recorded before its outcome, so that later audits compare it. Where an older one
    // was replaced the network stops, and what was final when it was read is booked all the same: the audit judges it.
    const { finalHeight } = await context.chain.head();
    await checkFinalBlocks(context.deps, context.merchant, {
      network: context.chain.network,
      newest: finalHeight,
    });
    await recordOutcomes(context, await withDollars(context, outcomes));
  }
  const unread = polled.find(({ unavailable }) => unavailable !== undefined)?.unavailable;
  if (unread !== undefined) throw unread;
  const waiting = sent.filter((_, i) => polled[i]?.isWaiting === true);
  return { finality: finalityTimesOf(sent, polled), waiting };
}

/** Adds what the fees of real money are worth now; a price that is missing holds nothing up. */
async function withDollars(
  { deps, merchant, chain }: SendContext,
  outcomes: readonly AttemptOutcome[],
): Promise<readonly AttemptOutcome[]> {
  const price = merchant.mode === 'live' ? await deps.rates.priceOfCoin(chain.network) : undefined;
  if (price === undefined) return outcomes;
  return outcomes.map((one) => ({
    ...one,
    feeDollars: one.fee === null ? undefined : dollarsOf(one.fee, price),
  }));
}

interface PollResult {
  /** Undefined while it is not decided. */
  outcome: AttemptOutcome | undefined;
  finalAt: number | undefined;
  isWaiting: boolean;
  /** What became of it cannot be read for now. */
  unavailable?: ChainUnavailable;
}

/** One that cannot be read hides no outcome of the others. Where it lasts people are told which one it is. */
async function tryPoll(...of: Parameters<typeof pollStatus>): Promise<PollResult> {
  try {
    return await pollStatus(...of);
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    const [context, attempt] = of;
    if (sentFor(context, attempt) > ALARM_AFTER_SECONDS) {
      const fields = { attempt_id: attempt.attempt_id, tx_id: attempt.tx_id, err: error };
      const message = 'what became of a transaction cannot be read for long';
      if (isLineDue(context.deps.log, `${attempt.attempt_id} ${message}`))
        context.deps.log.error(fields, message);
    }
    return { outcome: undefined, finalAt: undefined, isWaiting: false, unavailable: error };
  }
}

async function pollStatus(
  context: SendContext,
  attempt: AttemptRow,
  versions: readonly SignedTx[],
): Promise<PollResult> {
  const { signed, status, newest } = await readDeciding(context.chain, versions);
  const isWaiting = status.state === 'unknown' || status.state === 'pending';
  const isUnseen = isWaiting && newest.status.state === 'unknown';
  // An attempt that was given up is sent no more: an empty payment takes its sequence. That is sent until a block has one of both, as some
  // nodes keep what nobody pays, and say that it waits.
  const gap = storedGap(attempt);
  const isSent = isWaiting && (gap !== undefined || isUnseen);
  const again = isSent ? await broadcast(context, gap ?? newest.signed) : undefined;
  const { isCharge } = context;
  const transferIds = paysNobody(attempt) ? [] : attempt.item_ids;
  const transfers = transferIds.map((transferId) => ({ transferId, isCharge }));
  const verdict = judgeAttempt(status, transfers, context.chain.capabilities);
  const outcome = verdict && {
    attempt,
    verdict,
    detail: status.reason ?? null,
    height: status.height ?? null,
    fee: status.fee ?? null,
    signed,
    // Empty, and nothing is read, unless the chain has reported `paidBefore`.
    paidBy: await findPayers(context.deps.db, context.chain, attempt, status),
  };
  return { outcome, finalAt: status.finalAt ?? again?.finalAt, isWaiting };
}

async function recordOutcomes(context: SendContext, outcomes: readonly AttemptOutcome[]): Promise<void> {
  const { run, merchant, groupIds, nowSeconds } = context;
  await run.step(async (tx) => {
    // An earlier transaction has paid some of these after all: what was booked as stray for it is taken back first.
    await unbookStrays(
      tx,
      outcomes.flatMap(({ paidBy }) => [...paidBy]),
      nowSeconds,
    );
    for (const { attempt, signed } of outcomes) if (signed !== null) await adoptVersion(tx, attempt, signed);
    const closed = await closeAttempts(tx, merchant.merchantId, outcomes, nowSeconds);
    const over = new Set(
      closed.flatMap(({ verdict }) =>
        verdict.transfers.filter(({ to }) => to !== 'queued').map(({ transferId }) => transferId),
      ),
    );
    crashPoint('decide.closed');
    if (over.size > 0) {
      const transfers = await readTransfers(tx, merchant.merchantId, groupIds);
      await notifyOwners(
        tx,
        context,
        transfers.filter((transfer) => over.has(transfer.transfer_id)),
      );
    }
    // Last: it locks one row for all groups of the network, which wait for each other from here to the commit.
    const { deps, chain } = context;
    await enqueue(tx, [auditJob(merchant.merchantId, chain.network, deps.clock.nowMs())]);
    crashPoint('decide.before-commit');
  });
  crashPoint('decide.after-commit');
}

/**
 * Replaces sent attempts that no block takes, by the same payments for a higher fee. Where that fails they are watched as
 * they are.
 *
 * @param waiting sent attempts of which no version is in a block
 * @throws HistoryChanged, SigningRefused, ChainUnavailable
 */
export async function replaceStuck(context: SendContext, waiting: readonly AttemptRow[]): Promise<void> {
  if (!context.chain.capabilities.replaceByFee) return;
  const stuck: AttemptRow[] = [];
  for (const attempt of waiting.filter((one) => sentFor(context, one) >= REPLACE_AFTER_SECONDS))
    if (await isToReplace(context, attempt)) stuck.push(attempt);
  if (stuck.length === 0) return;
  const { deps, merchant, groupIds, chain } = context;
  const history = await assertSameHistory(deps.db);
  const transfers = await readTransfers(deps.db, merchant.merchantId, groupIds);
  await callForEach(context, stuck, async (attempt) => {
    // It goes to a wallet that was rotated since: another version of it would go elsewhere, which is another payment to the signer.
    if (await isOutdatedMove(deps.db, chain, attempt)) return await fillGap(deps, chain, attempt);
    // The holder knows this number of another history by another attempt.
    if ((attempt.ordinal ?? -1n) < (await readFirstOrdinal(deps.db, attempt))) return;
    try {
      const replaces = signedOf(attempt);
      const signed = await buildAttempt(context, { attempt, history, replaces }, transfers);
      if (signed.txId === replaces.txId) return;
      await storeAndSend(context, attempt, signed);
    } catch (error) {
      const isToWait = [SigningBlocked, SignerUnavailable, UnbuildableTransfer].some(
        (kind) => error instanceof kind,
      );
      if (!isToWait) throw error;
      const fields = { attempt_id: attempt.attempt_id, tx_id: attempt.tx_id, err: error };
      deps.log.error(fields, 'a stuck transaction cannot be replaced: it waits for lower fees');
    }
  });
}

const sentFor = ({ nowSeconds }: SendContext, { sent_at: sentAt }: AttemptRow) =>
  sentAt === null ? 0 : secondsSince(nowSeconds, Number(sentAt));

function feeKindOf({ isCharge }: SendContext, attempt: AttemptRow) {
  if (paysNobody(attempt)) {
    const movement = movementOf(attempt);
    if (movement.kind === 'activate' && movement.permit !== undefined) return 'permit';
    // Native coin moves as a top-up does.
    return movement.kind === 'move' && movement.asset === null ? 'gas' : movement.kind;
  }
  if (attempt.key_ref === TANK_KEY_REF) return 'sweep';
  return isCharge ? 'charge' : 'transfer';
}

async function isToReplace(context: SendContext, attempt: AttemptRow): Promise<boolean> {
  const { chain, deps } = context;
  if (attempt.fee_limit === null || attempt.gap_raw !== null) return false;
  const { native, atLimit } = await chain.estimateFee(feeKindOf(context, attempt), attempt.item_ids.length);
  const decision = decideReplacement({
    sentFor: sentFor(context, attempt),
    versions: attempt.versions,
    feeLimit: BigInt(attempt.fee_limit),
    presentFee: atLimit ?? native,
  });
  if (decision === 'alarm')
    deps.log.error(
      { attempt_id: attempt.attempt_id, tx_id: attempt.tx_id, versions: attempt.versions },
      'a transaction was replaced as often as it may be, and is still in no block',
    );
  return decision === 'replace';
}

/** Stored before they are sent: after a crash the stored bytes are sent, as those of any version. */
async function storeAndSend(
  context: SendContext,
  attempt: AttemptRow,
  signed: ReturnType<typeof signedOf>,
): Promise<void> {
  crashPoint('version.before');
  const isStored = await context.run.step(async (tx) => {
    await assertSameHistory(tx);
    const done = await storeVersion(tx, attempt, signed, context.nowSeconds);
    crashPoint('version.before-commit');
    return done;
  });
  crashPoint('version.after-commit');
  await keepSignerJournal(context.deps.db, context.deps.chains, context.merchant);
  if (!isStored) return;
  context.deps.log.warn(
    { attempt_id: attempt.attempt_id, replaced: attempt.tx_id, tx_id: signed.txId },
    'a stuck transaction is replaced for a higher fee',
  );
  const { unavailable } = await broadcast(context, signed);
  if (unavailable instanceof ChainUnavailable) throw unavailable;
}
