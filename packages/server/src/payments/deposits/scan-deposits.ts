import type { Network } from '@florin/contract/money';
import { ChainUnavailable, type ScanAnswer } from '../../chains/port/index.ts';
import type { Db } from '../../platform/db/index.ts';
import { transact } from '../../platform/db/index.ts';
import { BatchLoader } from '../../platform/db/loaders/index.ts';
import type { Job, JobOutcome, JobRun, JobSpec } from '../../platform/jobs/index.ts';
import { crashPoint } from '../../platform/jobs/index.ts';
import { getMerchant } from '../../stores/index.ts';
import { merchantTime } from '../../tenancy/index.ts';
import { checkFinalBlocks, isEarlyCreditStopped } from '../../transfers/blocks/index.ts';
import type { MerchantRef, PaymentDeps } from '../deps.ts';
import { applyScan } from './apply-scan.ts';
import { listCursors, type NetworkState, readNetworkState, saveCursor } from './deposit-queries.ts';
import { creditDepth } from './early-credit.ts';
import { networkOf, scanJob } from './jobs.ts';
import { WatchedAddresses } from './watched-addresses.ts';

// A scan reads twice: final blocks from a durable cursor, and the newer blocks up to the tip each time. After a crash the
// same blocks are read again, which changes nothing (apply-transfers.ts). Most scans find nothing: they read the blocks
// since the cursor once and write nothing.

/** The scan interval is 1/20 of the time since the last deposit on the network. */
const QUIET_SHARE = 20;
const INTERVAL_MIN_MS = 1_000;
/** At most 5 s while a payment is open, else 10 min: addresses are watched for late money for ever. */
const INTERVAL_OPEN_MAX_MS = 5_000;
const INTERVAL_WATCH_MAX_MS = 600_000;
/** `read_at` is saved this often, or at once if a payment waits for it. */
const RECORD_READ_SECONDS = 60;

/** Jobs that scan all networks on which the merchant has an address. */
export async function listScanJobs(db: Db, merchantId: string, dueAtMs: number): Promise<JobSpec[]> {
  const cursors = await listCursors(db, merchantId);
  return cursors.map(({ network }) => scanJob(merchantId, network, dueAtMs));
}

/** Handles `SCAN_JOB`. */
export async function scanDeposits(deps: PaymentDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const merchant = await getMerchant(deps.db, job.merchantId);
  const network = networkOf(job);
  const target = { merchant, network, seconds: merchantTime(deps, merchant).seconds };
  const state = await readNetworkState(deps.db, { ...merchant, network }, target.seconds);
  // The first address of a network enqueues the job again.
  if (state === undefined) return 'done';
  let newsAt = Number(state.news_at);
  try {
    if (await scanNetwork(deps, target, state, run.signal)) newsAt = target.seconds;
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    deps.log.warn(
      { network, merchantId: merchant.merchantId, err: error },
      'deposits cannot be read for now',
    );
  }
  const isWaiting = state.is_open || state.has_seen;
  return { againAtMs: deps.clock.nowMs() + scanIntervalMs(target.seconds - newsAt, isWaiting) };
}

type Scan = () => Promise<void>;
const sharedScans = new WeakMap<Db, BatchLoader<Scan, void>>();

/** Callers that need the same network at the same time share one scan: many pages may be due in one second. */
function sharedScansOf(db: Db): BatchLoader<Scan, void> {
  const known = sharedScans.get(db);
  if (known !== undefined) return known;
  const load = async (_: string, [scan, ...others]: readonly Scan[]) => {
    await scan?.();
    return [undefined, ...others.map(() => undefined)];
  };
  const made = new BatchLoader<Scan, void>({ loadBatch: load, maxBatch: Number.MAX_SAFE_INTEGER });
  sharedScans.set(db, made);
  return made;
}

/** Scans a network up to the merchant's current time. @throws ChainUnavailable */
export async function scanNow(deps: PaymentDeps, merchant: MerchantRef, network: Network): Promise<void> {
  await sharedScansOf(deps.db).load(`${merchant.merchantId} ${network}`, async () => {
    const { seconds } = merchantTime(deps, merchant);
    const state = await readNetworkState(deps.db, { ...merchant, network }, seconds);
    if (state === undefined) throw new Error(`the merchant has no address on ${network}`);
    // Never aborted, since several callers share the scan.
    const { signal } = new AbortController();
    await scanNetwork(deps, { merchant, network, seconds }, { ...state, is_overdue: true }, signal);
  });
}

/** @param quietSeconds since the last new address or transfer */
export function scanIntervalMs(quietSeconds: number, isWaiting: boolean): number {
  const longest = isWaiting ? INTERVAL_OPEN_MAX_MS : INTERVAL_WATCH_MAX_MS;
  return Math.min(Math.max((quietSeconds * 1000) / QUIET_SHARE, INTERVAL_MIN_MS), longest);
}

interface ScanTarget {
  merchant: MerchantRef;
  network: Network;
  /** The merchant's clock when the scan begins. */
  seconds: number;
}

/** Scans a network from its cursor to its tip. @returns whether a payment has changed @throws ChainUnavailable */
async function scanNetwork(
  deps: PaymentDeps,
  { merchant, network, seconds }: ScanTarget,
  state: NetworkState,
  signal: AbortSignal,
): Promise<boolean> {
  const { merchantId } = merchant;
  const chain = deps.chains.of(merchant, network);
  const { confirmations } = chain.caps;
  const watch = new WatchedAddresses(deps.db, merchantId, network);
  const isDue = state.is_overdue || seconds - Number(state.read_at) >= RECORD_READ_SECONDS;
  let { cursor } = state;
  let hasChanged = false;
  const save = async (next: Parameters<typeof saveCursor>[2]) => {
    await transact(deps.db, (tx) => saveCursor(tx, { merchantId, network, before: cursor }, next));
    cursor = next.cursor;
  };
  let tip = cursor === null ? undefined : await chain.scan({ level: 'tip', cursor, watch });
  const { finalHeight } = tip?.head ?? (await chain.head());
  const moves = isDue || tip === undefined || !tip.complete || holdsFinal(tip);
  const newest = moves ? { newest: finalHeight } : {};
  // If final blocks were replaced, the audit must read them before the cursor moves on.
  if (!(await checkFinalBlocks(deps, merchant, { network, ...newest }))) return true;
  let ahead = cursor;
  // The tip scan shows whether a final block holds a transfer. The cursor moves only then, or when a save is due.
  if (moves || tip === undefined) {
    for (let complete = false; !complete; ) {
      signal.throwIfAborted();
      const blocks = await chain.scan({ level: 'final', cursor: ahead, watch, upTo: finalHeight });
      ({ cursor: ahead, complete } = blocks);
      if (blocks.transfers.length === 0) continue;
      const depth = { confirmations, earlyUpTo: undefined };
      const final = { network, watch, final: blocks.transfers, seen: [], readTo: undefined, depth };
      hasChanged = (await applyScan(deps, merchant, final)) || hasChanged;
      crashPoint('deposits.before-cursor');
      await save({ cursor: ahead });
    }
    if (!tip?.complete) tip = await chain.scan({ level: 'tip', cursor: ahead, watch });
  }
  const readTo = tip.complete ? tip.head.height : undefined;
  if (state.has_seen || tip.transfers.length > 0) {
    // The height is saved first, since confirmations are counted from it. `read_at` is saved last, since payments expire
    // by it: what was seen in time must be stored by then.
    if (readTo !== undefined) await save({ cursor: ahead, height: readTo });
    const depth = creditDepth(
      confirmations,
      tip.head,
      await isEarlyCreditStopped(deps.db, merchant, network),
    );
    const seen = { network, watch, final: [], seen: tip.transfers, readTo, depth };
    hasChanged = (await applyScan(deps, merchant, seen)) || hasChanged;
  }
  if (isDue || hasChanged) {
    const read = tip.complete ? { readAt: seconds } : {};
    await save({ cursor: ahead, ...read, ...(hasChanged ? { newsAt: seconds } : {}) });
  }
  return hasChanged;
}

const holdsFinal = ({ transfers, head }: ScanAnswer) =>
  transfers.some(({ height }) => height <= head.finalHeight);
