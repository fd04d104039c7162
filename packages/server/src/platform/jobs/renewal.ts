import type { Db } from '../db/db.ts';
import type { Outage } from './outage.ts';
import { renewLeases } from './queries.ts';
import type { ActiveRun } from './run.ts';

export interface RenewalOptions {
  db: Db;
  outage: Outage;
  leaseMs: number;
  nowMs: () => number;
  /** Renews fresh leases too: after a change of the owner's number. */
  all: boolean;
}

const MERCHANTS_AT_ONCE = 4;

/** A lease is renewed after a third of its time: most jobs end earlier, and long ones cost few writes. */
const FRESH_PART = 2 / 3;

/**
 * Extends the leases of these runs under the owner's number, one statement for each merchant: all leases with `all`, else
 * those that are not fresh. A run whose row belongs to another worker is lost; a run whose lease ran out is aborted, so
 * that it begins nothing new.
 */
export async function renewRuns(
  runs: ReadonlySet<ActiveRun>,
  owner: number,
  options: RenewalOptions,
): Promise<void> {
  const { outage, nowMs, leaseMs, all } = options;
  const freshUntilMs = nowMs() + leaseMs * FRESH_PART;
  const held = [...runs].filter((run) => run.state === 'running');
  const stale = held.filter((run) => all || run.leaseUntilMs < freshUntilMs);
  const merchants = Map.groupBy(stale, (run) => run.job.merchantId).entries();
  // All take merchants from the same iterator.
  const renewing = Array.from({ length: MERCHANTS_AT_ONCE }, async () => {
    for (const [merchantId, own] of merchants) {
      try {
        await renewMerchant(merchantId, own, { ...options, owner, isActive: (run) => runs.has(run) });
        outage.worked('leases');
      } catch (error) {
        outage.failed('leases', error);
      }
    }
  });
  await Promise.all(renewing);
  for (const run of held) if (run.leaseUntilMs < nowMs()) run.abort();
}

async function renewMerchant(
  merchantId: string,
  runs: readonly ActiveRun[],
  options: RenewalOptions & { owner: number; isActive: (run: ActiveRun) => boolean },
): Promise<void> {
  const { db, owner, leaseMs, nowMs, isActive } = options;
  const leaseUntilMs = nowMs() + leaseMs;
  const jobs = runs.map((run) => run.job);
  const renewed = await renewLeases(db, merchantId, jobs, { owner, leaseUntilMs });
  for (const run of runs) {
    if (renewed.has(run.job.jobId)) run.leaseUntilMs = leaseUntilMs;
    // A run that ended meanwhile has no row either, but was not lost.
    else if (isActive(run) && run.state === 'running') run.lose();
  }
}
