import { transact } from '../platform/db/index.ts';
import { enqueue } from '../platform/jobs/index.ts';
import type { SandboxDeps } from './fund.ts';

/** Does nothing. An advancing clock stops at its due time, the end of an outage, so that waiting jobs run then. */
export const OUTAGE_END_JOB = 'sandbox.outage-end';

/** @param seconds of the merchant's clock */
export async function noteOutageEnd(deps: SandboxDeps, merchantId: string, seconds: number): Promise<void> {
  const dueAtMs = deps.clock.nowMs() + seconds * 1000;
  await transact(deps.db, (tx) =>
    enqueue(tx, [{ merchantId, kind: OUTAGE_END_JOB, dueAtMs, followsClock: true }]),
  );
}
