import { ChainUnavailable } from '../chains/index.ts';
import { crashPoint } from '../platform/crash-point.ts';
import { enqueue, type Job, type JobOutcome, type JobRun } from '../platform/jobs/index.ts';
import { getMerchant } from '../stores/index.ts';
import { HistoryChanged } from './history.ts';
import { reserveAttempts, signReserved } from './make-attempts.ts';
import { isStopped } from './network-stops.ts';
import { isHeldBack } from './pauses.ts';
import { type AttemptRow, readLiveAttempts, readTransfers, type TransferRow } from './queries.ts';
import { type Hindrance, nextRun } from './states.ts';
import { WalletBehind } from './wallet-queries.ts';
import { sendSigned, watchSent } from './watch-attempts.ts';
import type { TransferDeps, Work } from './work.ts';

export const SEND_JOB = 'transfers.send';
/** News for whoever can bring coins into the hot wallet: transfers wait for them; payload `{ network }`. */
export const SHORT_JOB = 'transfers.short';
/** Undecided for so long, a transfer is worth a person's look. */
const ALARM_AFTER_SECONDS = 120;

/** Brings one group of transfers as far as it goes now; asked again until each of them is decided. */
export async function sendTransfers(deps: TransferDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  crashPoint('send.claimed');
  const groupId = String(job.payload.groupId);
  const transfers = await readTransfers(deps.db, job.merchantId, groupId);
  const [first] = transfers;
  if (first === undefined) return 'done';
  const merchant = await getMerchant(deps.db, job.merchantId);
  const nowSeconds = deps.clock.nowSeconds() + merchant.clockOffset;
  const chain = deps.chains.of(merchant, first.network);
  const isCharge = first.charge !== null;
  const work: Work = { deps, run, merchant, groupId, chain, isCharge, nowSeconds };
  const hindrance = await advance(work, transfers);
  return await next(work, hindrance);
}

async function advance(work: Work, transfers: readonly TransferRow[]): Promise<Hindrance> {
  try {
    const hindrance = (await isNetworkStopped(work)) ? 'stopped' : await reserve(work, transfers);
    // What was reserved or signed goes on while new attempts are held back: it may be on the chain already.
    return await bringOut(work, hindrance);
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    const fields = { network: work.chain.network, group_id: work.groupId, err: error };
    work.deps.log.warn(fields, 'network unavailable, transfers wait');
    return 'unavailable';
  }
}

async function isNetworkStopped({ deps, merchant, chain, groupId }: Work): Promise<boolean> {
  const { network } = chain;
  if (!(await isStopped(deps.db, merchant, network))) return false;
  deps.log.error(
    { network, group_id: groupId },
    'the network is stopped, transfers wait (florin networks list)',
  );
  return true;
}

async function reserve(work: Work, transfers: readonly TransferRow[]): Promise<Hindrance> {
  const { deps, merchant, groupId } = work;
  const queued = transfers.filter((transfer) => transfer.status === 'queued');
  const [first] = queued;
  if (first === undefined) return 'none';
  const { network, currency } = first;
  if (await isHeldBack(deps.db, merchant, network, currency)) {
    deps.log.warn({ network, currency, group_id: groupId }, 'paused, transfers wait');
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
  { deps, run, groupId, nowSeconds }: Work,
  { merchant_id: merchantId, network, currency, created_at: createdAt }: TransferRow,
): Promise<void> {
  const ageSeconds = nowSeconds - Number(createdAt);
  const fields = { merchantId, network, currency, group_id: groupId, age_seconds: ageSeconds };
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
async function unlessOld({ deps, groupId }: Work, make: () => Promise<Hindrance>): Promise<Hindrance> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof WalletBehind) {
      const message =
        'a wallet was used elsewhere, or this database is an old copy: nothing new is sent from it';
      deps.log.error({ group_id: groupId, err: error }, message);
      return 'held';
    }
    if (!(error instanceof HistoryChanged)) throw error;
    const message =
      'a replica or a backup has become the database: payouts wait (florin ledger adopt-history)';
    deps.log.error({ group_id: groupId, err: error }, message);
    return 'stopped';
  }
}

/**
 * Signs, sends and watches the group's live attempts, each as far as it is. What is signed is sent whatever hinders:
 * the same bytes pay once, however often they were sent before.
 */
async function bringOut(work: Work, hindrance: Hindrance): Promise<Hindrance> {
  const live = (): Promise<AttemptRow[]> =>
    readLiveAttempts(work.deps.db, work.merchant.merchantId, work.groupId);
  const withStatus = (attempts: readonly AttemptRow[], status: AttemptRow['status']) =>
    attempts.filter((attempt) => attempt.status === status);
  const before = await live();
  const reserved = withStatus(before, 'reserved');
  const isToSign = reserved.length > 0 && hindrance !== 'stopped';
  const sign = async (): Promise<Hindrance> => {
    await signReserved(work, reserved);
    return 'none';
  };
  const signing = isToSign ? await unlessOld(work, sign) : 'none';
  const signed = withStatus(isToSign ? await live() : before, 'signed');
  if (signed.length > 0) await sendSigned(work, signed);
  // What went out just now is looked at in the next run.
  await watchSent(work, withStatus(before, 'sent'));
  return signing === 'none' ? hindrance : signing;
}

async function next(work: Work, hindrance: Hindrance): Promise<JobOutcome> {
  const { deps, merchant, groupId, nowSeconds } = work;
  const transfers = await readTransfers(deps.db, merchant.merchantId, groupId);
  const attempts = await readLiveAttempts(deps.db, merchant.merchantId, groupId);
  const ageSeconds = nowSeconds - Math.max(...transfers.map((transfer) => Number(transfer.created_at)));
  const open = transfers.filter((transfer) => transfer.completed_at === null).length;
  if (open > 0 && ageSeconds > ALARM_AFTER_SECONDS) {
    deps.log.warn({ group_id: groupId, transfers: open, age_seconds: ageSeconds }, 'undecided for long');
  }
  const unsigned = attempts.filter((attempt) => attempt.status === 'reserved').length;
  const again = nextRun({
    hindrance,
    ageSeconds,
    queued: transfers.filter((transfer) => transfer.status === 'queued').length,
    unsigned,
    sent: attempts.length - unsigned,
  });
  if (again === undefined) return 'done';
  return { againAtMs: deps.clock.nowMs() + again.waitMs, followsClock: again.followsClock };
}
