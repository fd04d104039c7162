import { PUBLISH_JOB } from '../events/index.ts';
import { WATCH_METHODS_JOB } from '../payment-methods/mandates/index.ts';
import { listScanJobs } from '../payments/deposits/index.ts';
import { EXPIRE_JOB } from '../payments/index.ts';
import { transact } from '../platform/db/index.ts';
import {
  advanceClockJobs,
  enqueue,
  hasDueJobs,
  hastenClockJobs,
  nextClockJobMs,
} from '../platform/jobs/index.ts';
import { SEND_REFUND_JOB } from '../refunds/index.ts';
import { getMerchant, moveClock } from '../stores/index.ts';
import { DUE_JOB } from '../subscriptions/index.ts';
import { AUDIT_JOB } from '../transfers/blocks/index.ts';
import { SEND_JOB } from '../transfers/index.ts';
import { DELIVER_JOB } from '../webhooks/index.ts';
import type { SandboxDeps } from './fund.ts';

/** A call answers after this time with the clock it has reached. */
const TIMEOUT_MS = 20_000;
const POLL_MS = 15;
/** Deliveries to merchants' servers: the clock does not wait for these. */
const NOT_WAITED_FOR = [PUBLISH_JOB, DELIVER_JOB] as const;

/** Repeated each minute in real operation. Simulated chains change by API calls only, so one audit per step is enough. */
const AUDITS = [AUDIT_JOB] as const;

/** Jobs that only read chains, at which the clock does not stop. They run at its next stop; a charge reads its wallet itself. */
const NO_STOPS = [...AUDITS, WATCH_METHODS_JOB] as const;

/** Jobs that may be waiting in real time for something that the advancing clock brings: the end of an outage, or coins. */
const RETRIED_AT_EACH_STOP = [SEND_JOB, SEND_REFUND_JOB, EXPIRE_JOB, DUE_JOB] as const;

export interface AdvancedClock {
  now: number;
  done: boolean;
}

/**
 * Advances a merchant's clock from due time to due time. At each stop the workers finish all due jobs, so that years pass
 * in their real order. Concurrent calls add up.
 *
 * @param seconds of the merchant's clock
 */
export async function advanceClock(
  deps: SandboxDeps,
  merchantId: string,
  seconds: number,
): Promise<AdvancedClock> {
  const endsAtMs = deps.clock.nowMs() + TIMEOUT_MS;
  let left = seconds;
  let quiet = await becomeQuiet(deps, merchantId, endsAtMs);
  while (quiet && left > 0 && deps.clock.nowMs() < endsAtMs) {
    let step = await nextStep(deps, merchantId, left);
    if (await hastenAudits(deps, merchantId, step)) {
      quiet = await becomeQuiet(deps, merchantId, endsAtMs);
      if (!quiet) break;
      // The audit may have created an earlier job.
      step = await nextStep(deps, merchantId, left);
    }
    await transact(deps.db, async (tx) => {
      await moveClock(tx, merchantId, step);
      const nowMs = deps.clock.nowMs();
      await advanceClockJobs(tx, merchantId, { ms: step * 1000, nowMs, retryKinds: RETRIED_AT_EACH_STOP });
      // The step has produced blocks, which are scanned before anything later happens.
      await enqueue(tx, await listScanJobs(tx, merchantId, nowMs));
    });
    left -= step;
    quiet = await becomeQuiet(deps, merchantId, endsAtMs);
  }
  const { clockOffset } = await getMerchant(deps.db, merchantId);
  return { now: deps.clock.nowSeconds() + clockOffset, done: quiet && left === 0 };
}

/** @returns whether an audit was due within the step, and runs now */
async function hastenAudits(deps: SandboxDeps, merchantId: string, step: number): Promise<boolean> {
  const nowMs = deps.clock.nowMs();
  const jobs = { kinds: AUDITS, untilMs: nowMs + step * 1000, nowMs };
  return await transact(deps.db, (tx) => hastenClockJobs(tx, merchantId, jobs));
}

/** Whole seconds to the next due time, or to the end if nothing is due before. */
async function nextStep(deps: SandboxDeps, merchantId: string, left: number): Promise<number> {
  const nextMs = await nextClockJobMs(deps.db, merchantId, [...NOT_WAITED_FOR, ...NO_STOPS]);
  if (nextMs === undefined) return left;
  const seconds = Math.ceil((nextMs - deps.clock.nowMs()) / 1000);
  return Math.min(left, Math.max(1, seconds));
}

/** Waits until no job is due. @returns false at the timeout */
async function becomeQuiet(deps: SandboxDeps, merchantId: string, endsAtMs: number): Promise<boolean> {
  for (;;) {
    const nowMs = deps.clock.nowMs();
    if (!(await hasDueJobs(deps.db, merchantId, { nowMs, except: NOT_WAITED_FOR }))) return true;
    if (nowMs >= endsAtMs) return false;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
