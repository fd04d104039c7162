import { PUBLISH_JOB } from '../events/index.ts';
import { WATCH_METHODS_JOB } from '../payment-methods/index.ts';
import { EXPIRE_JOB, listCursors, scanJob } from '../payments/index.ts';
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
import { AUDIT_JOB, SEND_JOB } from '../transfers/index.ts';
import { DELIVER_JOB } from '../webhooks/index.ts';
import type { SandboxDeps } from './fund.ts';

/** How long one call may take before it answers with what it has reached. */
const PATIENCE_MS = 20_000;
const LOOK_AGAIN_MS = 15;
/** What no clock waits for: deliveries to merchants' servers go out afterwards. */
const NOT_WAITED_FOR = [PUBLISH_JOB, DELIVER_JOB] as const;

/**
 * Looks back at what is final, each minute while there is any of it: chains of the sandbox change by calls alone, so that one
 * look before the time goes on finds all that those on the way would.
 */
const LOOKS_BACK = [AUDIT_JOB] as const;

/**
 * What only looks at chains, which change by calls alone: the clock does not stop for it. It is done where the clock stops
 * next, and a charge reads its wallet itself.
 */
const NO_STOPS = [...LOOKS_BACK, WATCH_METHODS_JOB] as const;

/** What waits in real time while it is held up: an outage may end, or coins come in, as the clock goes on. */
const MAY_BE_HELD_UP = [SEND_JOB, SEND_REFUND_JOB, EXPIRE_JOB, DUE_JOB] as const;

export interface AdvancedClock {
  now: number;
  done: boolean;
}

/**
 * Moves a merchant's clock ahead from due time to due time, each one's work done by the workers before the next, so
 * that years pass in the order in which they would have. Two calls at once add up.
 *
 * @param seconds of the merchant's clock
 */
export async function advanceClock(
  deps: SandboxDeps,
  merchantId: string,
  seconds: number,
): Promise<AdvancedClock> {
  const endsAtMs = deps.clock.nowMs() + PATIENCE_MS;
  let left = seconds;
  let quiet = await becomeQuiet(deps, merchantId, endsAtMs);
  while (quiet && left > 0 && deps.clock.nowMs() < endsAtMs) {
    let step = await nextStep(deps, merchantId, left);
    if (await lookBack(deps, merchantId, step)) {
      quiet = await becomeQuiet(deps, merchantId, endsAtMs);
      if (!quiet) break;
      // What was found may be due earlier.
      step = await nextStep(deps, merchantId, left);
    }
    await transact(deps.db, async (tx) => {
      await moveClock(tx, merchantId, step);
      const nowMs = deps.clock.nowMs();
      await advanceClockJobs(tx, merchantId, { ms: step * 1000, nowMs, lookAnew: MAY_BE_HELD_UP });
      // Blocks have come with the time: what lies in them is read before anything later happens.
      const cursors = await listCursors(tx, merchantId);
      await enqueue(
        tx,
        cursors.map(({ network }) => scanJob(merchantId, network, nowMs)),
      );
    });
    left -= step;
    quiet = await becomeQuiet(deps, merchantId, endsAtMs);
  }
  const { clockOffset } = await getMerchant(deps.db, merchantId);
  return { now: deps.clock.nowSeconds() + clockOffset, done: quiet && left === 0 };
}

/** @returns whether there is something to wait for */
async function lookBack(deps: SandboxDeps, merchantId: string, step: number): Promise<boolean> {
  const nowMs = deps.clock.nowMs();
  const jobs = { kinds: LOOKS_BACK, untilMs: nowMs + step * 1000, nowMs };
  return await transact(deps.db, (tx) => hastenClockJobs(tx, merchantId, jobs));
}

/** To the next due time in whole seconds, or to the end where nothing is due before. */
async function nextStep(deps: SandboxDeps, merchantId: string, left: number): Promise<number> {
  const nextMs = await nextClockJobMs(deps.db, merchantId, [...NOT_WAITED_FOR, ...NO_STOPS]);
  if (nextMs === undefined) return left;
  const seconds = Math.ceil((nextMs - deps.clock.nowMs()) / 1000);
  return Math.min(left, Math.max(1, seconds));
}

/** @returns false when something is still due as the patience ends */
async function becomeQuiet(deps: SandboxDeps, merchantId: string, endsAtMs: number): Promise<boolean> {
  for (;;) {
    const nowMs = deps.clock.nowMs();
    if (!(await hasDueJobs(deps.db, merchantId, { nowMs, except: NOT_WAITED_FOR }))) return true;
    if (nowMs >= endsAtMs) return false;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
}
