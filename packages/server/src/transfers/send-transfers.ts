import { ChainUnavailable, SigningRefused } from '../chains/index.ts';
import { loaderPer } from '../platform/db/index.ts';
import {
  crashPoint,
  enqueue,
  type Job,
  type JobOutcome,
  type JobRun,
  joinRuns,
} from '../platform/jobs/index.ts';
import { isLineDue } from '../platform/observability/index.ts';
import { getMerchant, type Merchant } from '../stores/index.ts';
import { findChargeLane } from './charge-queries.ts';
import { checkFinalBlocks } from './final-blocks.ts';
import { HistoryChanged, noteRefusal } from './history.ts';
import { reserveAttempts, signReserved } from './make-attempts.ts';
import { isStopped } from './network-stops.ts';
import { isHeldBack } from './pauses.ts';
import { type AttemptRow, readLiveAttempts, readTransfers, type TransferRow } from './queries.ts';
import { endSuspendedCharges } from './refuse-charges.ts';
import { type Hindrance, nextRun } from './states.ts';
import { WalletBehind } from './wallet-queries.ts';
import { type Expected, sendSigned, watchSent } from './watch-attempts.ts';
import type { TransferDeps, Work } from './work.ts';

export const SEND_JOB = 'transfers.send';
/** News for whoever can bring coins into the hot wallet: transfers wait for them; payload `{ network }`. */
export const SHORT_JOB = 'transfers.short';
/** Undecided for so long, a transfer is worth a person's look. */
const ALARM_AFTER_SECONDS = 120;

/** Groups of charges that are brought on together. */
const CHARGES_MAX = 100;
/** What comes meanwhile waits for those under way, so that it goes together too; not for a network that hangs. */
const CHARGES_WAIT_MS = 1_000;

/** The run of a job over its group. */
interface GroupRun {
  merchant: Merchant;
  groupId: string;
  run: JobRun;
}

/** By process: charges that are due together share statements, calls and commits. */
const chargeRunsOf = loaderPer((deps: TransferDeps) => ({
  loadBatch: (_key, groups: readonly GroupRun[]) => bringOnAll(deps, groups),
  maxBatch: CHARGES_MAX,
  overlapAfterMs: CHARGES_WAIT_MS,
}));

/** Brings one group of transfers as far as it goes now; asked again until each of them is decided. */
export async function sendTransfers(deps: TransferDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  crashPoint('send.claimed');
  const { merchantId } = job;
  const groupId = String(job.payload.groupId);
  const merchant = await getMerchant(deps.db, merchantId);
  const lane = await findChargeLane(deps.db, merchantId, groupId);
  if (lane === undefined) return await bringOn(deps, { merchant, groupId, run });
  const ended = await chargeRunsOf(deps).load(`${merchantId} ${lane}`, { merchant, groupId, run });
  if (ended.status === 'rejected') throw ended.reason;
  return ended.value;
}

/** Where one of them fails, it fails alone: each is tried again by itself, from what is written by then. */
async function bringOnAll(
  deps: TransferDeps,
  groups: readonly GroupRun[],
): Promise<PromiseSettledResult<JobOutcome>[]> {
  try {
    const outcomes = await bringOnTogether(deps, groups);
    return outcomes.map((value) => ({ status: 'fulfilled', value }));
  } catch (reason) {
    if (groups.length === 1) return [{ status: 'rejected', reason }];
    return await Promise.allSettled(groups.map((group) => bringOn(deps, group)));
  }
}

async function bringOn(deps: TransferDeps, group: GroupRun): Promise<JobOutcome> {
  const [outcome = 'done'] = await bringOnTogether(deps, [group]);
  return outcome;
}

/** @returns what becomes of the job of each group */
async function bringOnTogether(deps: TransferDeps, groups: readonly GroupRun[]): Promise<JobOutcome[]> {
  const groupIds = groups.map(({ groupId }) => groupId);
  // The one that came last has read the clock last.
  const merchant = groups.at(-1)?.merchant;
  if (merchant === undefined) return [];
  const transfers = await readTransfers(deps.db, merchant.merchantId, groupIds);
  const [first] = transfers;
  if (first === undefined) return groups.map(() => 'done');
  const nowSeconds = deps.clock.nowSeconds() + merchant.clockOffset;
  const chain = deps.chains.of(merchant, first.network);
  const isCharge = first.charge !== null;
  const run = joinRuns(groups.map((group) => group.run));
  const work: Work = {
    deps,
    run,
    merchant,
    groupIds,
    chain,
    isCharge,
    nowSeconds,
    history: {},
  };
  const open = isCharge ? await endSuspendedCharges(work, transfers) : transfers;
  return await next(work, await advance(work, open));
}

/** How a run left its groups. */
interface Advanced {
  hindrance: Hindrance;
  expected: Expected;
}

async function advance(work: Work, transfers: readonly TransferRow[]): Promise<Advanced> {
  try {
    const hindrance = (await isNetworkStopped(work)) ? 'stopped' : await reserve(work, transfers);
    // What was reserved or signed goes on while new attempts are held back: it may be on the chain already.
    return await bringOut(work, hindrance);
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    const fields = { network: work.chain.network, group_ids: work.groupIds, err: error };
    work.deps.log.warn(fields, 'network unavailable, transfers wait');
    return { hindrance: 'unavailable', expected: new Map() };
  }
}

async function isNetworkStopped(work: Work): Promise<boolean> {
  const { deps, merchant, chain } = work;
  if (!(await isStopped(deps.db, merchant, chain.network))) return false;
  tellOfAll(work, 'the network is stopped, transfers wait (florin networks list)');
  return true;
}

/** Each group that waits has the same reason: it is told once a minute for each network. */
function tellOfAll({ deps, chain: { network }, groupIds }: Work, message: string, fields: object = {}): void {
  if (!isLineDue(deps.log, `${network} ${message}`)) return;
  deps.log.error({ network, group_ids: groupIds, ...fields }, message);
}

async function reserve(work: Work, transfers: readonly TransferRow[]): Promise<Hindrance> {
  const { deps, merchant, groupIds } = work;
  const queued = transfers.filter((transfer) => transfer.status === 'queued');
  const [first] = queued;
  if (first === undefined) return 'none';
  const { network, currency } = first;
  if (merchant.status === 'suspended') {
    const fields = { merchantId: merchant.merchantId, network, currency, group_ids: groupIds };
    deps.log.info(fields, 'the merchant is suspended, transfers wait');
    return 'held';
  }
  if (!(await checkFinalBlocks(deps, merchant, { network }))) return 'stopped';
  if (await isHeldBack(deps.db, merchant, network, currency)) {
    deps.log.warn({ network, currency, group_ids: groupIds }, 'paused, transfers wait');
    return 'held';
  }
  return await unlessOld(work, async () => {
    if (await reserveAttempts(work, queued)) return 'none';
    await askForCoins(work, first);
    return 'held';
  });
}

/** What the books call custody lies at deposit addresses too: a payment waits until enough of it is in its wallet. */
async function askForCoins(
  { deps, run, groupIds, nowSeconds }: Work,
  { merchant_id: merchantId, network, currency, created_at: createdAt }: TransferRow,
): Promise<void> {
  const ageSeconds = nowSeconds - Number(createdAt);
  const fields = { merchantId, network, currency, group_ids: groupIds, age_seconds: ageSeconds };
  if (ageSeconds > ALARM_AFTER_SECONDS)
    deps.log.error(fields, 'a wallet is short for long: transfers wait until coins come into it');
  else deps.log.info(fields, 'a wallet is short, transfers wait');
  const dueAtMs = deps.clock.nowMs();
  const payload = { network };
  await run.step((tx) =>
    enqueue(tx, [{ merchantId, kind: SHORT_JOB, uniqueKey: network, dueAtMs, followsClock: true, payload }]),
  );
}

/** Makes what may be sent, and alarms where this database may not know what was sent. */
async function unlessOld(work: Work, make: () => Promise<Hindrance>): Promise<Hindrance> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof WalletBehind) {
      const message =
        'a wallet was used elsewhere, or this database is an old copy: nothing new is sent from it';
      tellOfAll(work, message, { err: error });
      return 'held';
    }
    if (error instanceof SigningRefused) await noteRefusal(work.deps.db, error.history);
    else if (!(error instanceof HistoryChanged)) throw error;
    const message =
      'this database is a copy, or another copy of it sends: payouts wait (florin ledger adopt-history)';
    tellOfAll(work, message, { event: 'history_changed', err: error });
    return 'stopped';
  }
}

/**
 * Signs, sends and watches the group's live attempts, each as far as it is. What is signed is sent whatever hinders:
 * the same bytes pay once, however often they were sent before.
 */
async function bringOut(work: Work, hindrance: Hindrance): Promise<Advanced> {
  const live = (): Promise<AttemptRow[]> =>
    readLiveAttempts(work.deps.db, work.merchant.merchantId, work.groupIds);
  const withStatus = (attempts: readonly AttemptRow[], status: AttemptRow['status']) =>
    attempts.filter((attempt) => attempt.status === status);
  const before = await live();
  const reserved = withStatus(before, 'reserved');
  const isToSign = reserved.length > 0 && hindrance !== 'stopped';
  const sign = async (): Promise<Hindrance> => {
    // A run that reserved them may have ended long ago.
    if (!(await checkFinalBlocks(work.deps, work.merchant, work.chain))) return 'stopped';
    await signReserved(work);
    return 'none';
  };
  const signing = isToSign ? await unlessOld(work, sign) : 'none';
  const signed = withStatus(isToSign ? await live() : before, 'signed');
  const justSent = signed.length > 0 ? await sendSigned(work, signed) : [];
  // What went out just now is looked at in the next run.
  const watched = await watchSent(work, withStatus(before, 'sent'));
  const expected = new Map([...justSent, ...watched]);
  return { hindrance: signing === 'none' ? hindrance : signing, expected };
}

async function next(work: Work, advanced: Advanced): Promise<JobOutcome[]> {
  const { deps, merchant, groupIds } = work;
  const transfers = await readTransfers(deps.db, merchant.merchantId, groupIds);
  const attempts = await readLiveAttempts(deps.db, merchant.merchantId, groupIds);
  const ofGroup = Map.groupBy(transfers, (transfer) => transfer.group_id);
  const attemptsOf = Map.groupBy(attempts, (attempt) => attempt.group_id);
  return groupIds.map((groupId) => {
    const group = { transfers: ofGroup.get(groupId) ?? [], attempts: attemptsOf.get(groupId) ?? [] };
    return nextOf(work, advanced, { groupId, ...group });
  });
}

function nextOf(
  { deps, merchant, nowSeconds }: Work,
  { hindrance, expected }: Advanced,
  { groupId, transfers, attempts }: { groupId: string; transfers: TransferRow[]; attempts: AttemptRow[] },
): JobOutcome {
  const ageSeconds = nowSeconds - Math.max(...transfers.map((transfer) => Number(transfer.created_at)));
  const open = transfers.filter((transfer) => transfer.completed_at === null).length;
  if (open > 0 && ageSeconds > ALARM_AFTER_SECONDS) {
    deps.log.warn({ group_id: groupId, transfers: open, age_seconds: ageSeconds }, 'undecided for long');
  }
  const nowMs = deps.clock.nowMs();
  const unsigned = attempts.filter((attempt) => attempt.status === 'reserved').length;
  const sent = attempts.filter((attempt) => attempt.status !== 'reserved');
  const finalInMs = ({ attempt_id: id }: AttemptRow) => {
    const finalAt = expected.get(id);
    return finalAt === undefined ? undefined : (finalAt - merchant.clockOffset) * 1000 - nowMs;
  };
  const again = nextRun({
    hindrance,
    ageSeconds,
    queued: transfers.filter((transfer) => transfer.status === 'queued').length,
    unsigned,
    sent: sent.map(finalInMs),
  });
  if (again === undefined) return 'done';
  return { againAtMs: nowMs + again.waitMs, followsClock: again.followsClock };
}
