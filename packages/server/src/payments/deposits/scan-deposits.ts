import type { Network } from '@florin/contract/money';
import { ChainUnavailable } from '../../chains/port/index.ts';
import type { Db } from '../../platform/db/index.ts';
import { loaderPer } from '../../platform/db/loaders/index.ts';
import type { Job, JobOutcome, JobRun, JobSpec } from '../../platform/jobs/index.ts';
import { getMerchant } from '../../stores/index.ts';
import { merchantTime } from '../../tenancy/index.ts';
import type { MerchantRef, PaymentDeps } from '../deps.ts';
import { isWaiting, listCursors, readNetworkState } from './deposit-queries.ts';
import { networkOf, scanJob } from './jobs.ts';
import { scanNetwork } from './scan-network.ts';

/** The interval of scans is the time since the last deposit on the network, divided by this. */
const QUIET_DIVISOR = 20;
const INTERVAL_MIN_MS = 1_000;
/** At most 5 s while a payment is open or something seen is not final, else 10 min: addresses are watched for late money for ever. */
const INTERVAL_OPEN_MAX_MS = 5_000;
const INTERVAL_WATCH_MAX_MS = 600_000;

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
  return { againAtMs: deps.clock.nowMs() + scanIntervalMs(target.seconds - newsAt, isWaiting(state)) };
}

type Scan = () => Promise<void>;
/** Callers that need the same network at the same time share one scan: many pages may be due in one second. */
const sharedScansOf = loaderPer<Db, Scan, void>(() => ({
  maxBatch: Number.POSITIVE_INFINITY,
  loadBatch: async (_key, scans) => {
    await scans[0]?.();
    return scans.map(() => undefined);
  },
}));

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
  return Math.min(Math.max((quietSeconds * 1000) / QUIET_DIVISOR, INTERVAL_MIN_MS), longest);
}
