import { ledgerImbalance } from '../ledger/balances/index.ts';
import { countElsewhere } from '../payment-methods/charges/index.ts';
import { listPools, listScans } from '../payments/deposits/index.ts';
import { countPendingApproval } from '../payouts/approvals/index.ts';
import type { Clock, Db } from '../platform/db/index.ts';
import { countWorkers, jobHealth } from '../platform/jobs/index.ts';
import { findLastReport } from '../reconciliation/index.ts';
import { countAwaitingApproval } from '../refunds/approvals/index.ts';
import { shortRefunds } from '../refunds/index.ts';
import { listStops } from '../transfers/blocks/index.ts';
import { hasHistoryChanged } from '../transfers/history/index.ts';
import { transferHealth } from '../transfers/index.ts';
import { listTanks } from '../transfers/wallets/index.ts';
import { webhookHealth } from '../webhooks/index.ts';
import { shareReads } from './share-reads.ts';

const KEEP_MS_MIN = 5_000;
/** Reading takes at most this share of the time, however large the tables grow. */
const SHARE_OF_TIME = 1 / 50;

/** State of the whole installation, from the database. */
export type ServiceState = Awaited<ReturnType<typeof readState>>;

async function readState(db: Db, clock: Clock) {
  const nowMs = clock.nowMs();
  // Sequential, so that monitoring uses one connection.
  const jobs = await jobHealth(db, nowMs);
  const workers = await countWorkers(db);
  const transfers = await transferHealth(db);
  const stops = await listStops(db);
  const tanks = await listTanks(db);
  const pools = await listPools(db);
  const scans = await listScans(db);
  const historyChanged = await hasHistoryChanged(db);
  const refunds = await shortRefunds(db);
  const approvals = { payouts: await countPendingApproval(db), refunds: await countAwaitingApproval(db) };
  const webhooks = await webhookHealth(db);
  const elsewhere = await countElsewhere(db);
  const imbalances = await ledgerImbalance(db);
  const lastReport = await findLastReport(db);
  return {
    atMs: nowMs,
    jobs,
    workers,
    transfers,
    stops,
    tanks,
    pools,
    scans,
    historyChanged,
    refunds,
    approvals,
    webhooks,
    elsewhere,
    imbalances,
    lastReport,
  };
}

/**
 * Reads the state at most every 5 s, and less often if reading is slow. Other callers share the last result; a failure is
 * not cached.
 */
export const createStateReader = (db: Db, clock: Clock): (() => Promise<ServiceState>) =>
  shareReads(
    () => readState(db, clock),
    (tookMs) => Math.max(KEEP_MS_MIN, tookMs / SHARE_OF_TIME),
  );
