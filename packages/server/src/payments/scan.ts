import type { Network } from '@florin/contract/money';
import { ChainUnavailable, type ScanAnswer } from '../chains/index.ts';
import type { Db } from '../platform/db/index.ts';
import { BatchLoader, transact } from '../platform/db/index.ts';
import type { Job, JobOutcome, JobRun } from '../platform/jobs/index.ts';
import { crashPoint } from '../platform/jobs/index.ts';
import { getMerchant } from '../stores/index.ts';
import { merchantTime } from '../tenancy/index.ts';
import { checkFinalBlocks } from '../transfers/index.ts';
import { applyPage } from './apply-page.ts';
import { type NetworkState, readNetworkState, saveCursor } from './deposit-queries.ts';
import type { MerchantRef, PaymentDeps } from './deps.ts';
import { WatchedAddresses } from './watched-addresses.ts';

// Two reads and no way back: a durable cursor moves over final blocks only, and what lies after it is read again each
// time. A crash anywhere reads the same blocks again, which changes nothing (see apply-transfers.ts). Most looks find
// nothing: they read the blocks since the cursor once and write nothing at all.

/** A network is looked at again after a twentieth of the time for which nothing has happened there. */
const QUIET_SHARE = 20;
const PAUSE_MIN_MS = 1_000;
/** While somebody may be paying; and while addresses are only watched, in case of late money. */
const PAUSE_OPEN_MAX_MS = 5_000;
const PAUSE_WATCH_MAX_MS = 600_000;
/** How old it may get on record that a network was read, unless a payment waits for just that. */
const READ_EVERY_SECONDS = 60;

/** Handles a job of `SCAN_JOB`. */
export async function scanDeposits(deps: PaymentDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const merchant = await getMerchant(deps.db, job.merchantId);
  const network = job.payload.network as Network;
  const place = { merchant, network, seconds: merchantTime(deps, merchant).seconds };
  const state = await readNetworkState(deps.db, { ...merchant, network }, place.seconds);
  // Whoever gives out the first address asks for a look.
  if (state === undefined) return 'done';
  let newsAt = Number(state.news_at);
  try {
    if (await readNetwork(deps, place, state, run.signal)) newsAt = place.seconds;
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    deps.log.warn(
      { network, merchantId: merchant.merchantId, err: error },
      'deposits cannot be read for now',
    );
  }
  const isWaiting = state.is_open || state.has_seen;
  return { againAtMs: deps.clock.nowMs() + pauseMs(place.seconds - newsAt, isWaiting) };
}

type Reading = () => Promise<void>;
const readings = new WeakMap<Db, BatchLoader<Reading, void>>();

/** One for all that wait for a network at the same time: many pages may be due in one second. */
function readingsOf(db: Db): BatchLoader<Reading, void> {
  const known = readings.get(db);
  if (known !== undefined) return known;
  const load = async (_: string, [read, ...others]: readonly Reading[]) => {
    await read?.();
    return [undefined, ...others.map(() => undefined)];
  };
  const made = new BatchLoader<Reading, void>({ loadBatch: load, maxBatch: Number.MAX_SAFE_INTEGER });
  readings.set(db, made);
  return made;
}

/** Reads a network now, for somebody who waits for it to be read up to this time. @throws ChainUnavailable */
export async function readNow(deps: PaymentDeps, merchant: MerchantRef, network: Network): Promise<void> {
  await readingsOf(deps.db).load(`${merchant.merchantId} ${network}`, async () => {
    const { seconds } = merchantTime(deps, merchant);
    const state = await readNetworkState(deps.db, { ...merchant, network }, seconds);
    if (state === undefined) throw new Error(`no address was given out on ${network}`);
    const forAll = new AbortController().signal;
    await readNetwork(deps, { merchant, network, seconds }, { ...state, is_overdue: true }, forAll);
  });
}

/** @param quietSeconds since an address was given out or a transfer found */
export function pauseMs(quietSeconds: number, isWaiting: boolean): number {
  const longest = isWaiting ? PAUSE_OPEN_MAX_MS : PAUSE_WATCH_MAX_MS;
  return Math.min(Math.max((quietSeconds * 1000) / QUIET_SHARE, PAUSE_MIN_MS), longest);
}

interface Reader {
  merchant: MerchantRef;
  network: Network;
  /** The merchant's clock as the reading begins. */
  seconds: number;
}

/** Reads a network from its cursor to its tip. @returns whether a payment has changed @throws ChainUnavailable */
async function readNetwork(
  deps: PaymentDeps,
  { merchant, network, seconds }: Reader,
  state: NetworkState,
  signal: AbortSignal,
): Promise<boolean> {
  const { merchantId } = merchant;
  const chain = deps.chains.of(merchant, network);
  const watch = new WatchedAddresses(deps.db, merchantId, network);
  const isDue = state.is_overdue || seconds - Number(state.read_at) >= READ_EVERY_SECONDS;
  let { cursor } = state;
  let hasNews = false;
  const save = async (next: Parameters<typeof saveCursor>[2]) => {
    await transact(deps.db, (tx) => saveCursor(tx, { merchantId, network, before: cursor }, next));
    cursor = next.cursor;
  };
  let tip = cursor === null ? undefined : await chain.scan({ level: 'tip', cursor, watch });
  const { finalHeight } = tip?.head ?? (await chain.head());
  const moves = isDue || tip === undefined || !tip.complete || holdsFinal(tip);
  const newest = moves ? { newest: finalHeight } : {};
  // Read on from here, blocks that were replaced would be passed over: the audit reads them first.
  if (!(await checkFinalBlocks(deps, merchant, { network, ...newest }))) return true;
  let ahead = cursor;
  // From the tip it is known whether a final block holds anything: only then, or now and then, the cursor moves.
  if (moves || tip === undefined) {
    for (let complete = false; !complete; ) {
      signal.throwIfAborted();
      const page = await chain.scan({ level: 'final', cursor: ahead, watch, upTo: finalHeight });
      ({ cursor: ahead, complete } = page);
      if (page.transfers.length === 0) continue;
      const final = { network, watch, final: page.transfers, seen: [], readTo: undefined };
      hasNews = (await applyPage(deps, merchant, final)) || hasNews;
      crashPoint('deposits.before-cursor');
      await save({ cursor: ahead });
    }
    if (!tip?.complete) tip = await chain.scan({ level: 'tip', cursor: ahead, watch });
  }
  const readTo = tip.complete ? tip.head.height : undefined;
  if (state.has_seen || tip.transfers.length > 0) {
    // The height first, as what is shown of a transfer counts from it; that the network was read comes last: a payment
    // expires by it, and what was seen in time must be known by then.
    if (readTo !== undefined) await save({ cursor: ahead, height: readTo });
    const seen = { network, watch, final: [], seen: tip.transfers, readTo };
    hasNews = (await applyPage(deps, merchant, seen)) || hasNews;
  }
  if (isDue || hasNews) {
    const read = tip.complete ? { readAt: seconds } : {};
    await save({ cursor: ahead, ...read, ...(hasNews ? { newsAt: seconds } : {}) });
  }
  return hasNews;
}

const holdsFinal = ({ transfers, head }: ScanAnswer) =>
  transfers.some(({ height }) => height <= head.finalHeight);
