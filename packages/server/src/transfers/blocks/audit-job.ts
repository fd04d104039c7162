import type { Network } from '@florin/contract/money';
import type { JobSpec } from '../../platform/jobs/index.ts';

/** Compares final blocks again with what was booked from them; payload `{ network }`. Enqueued with every movement of coins. */
export const AUDIT_JOB = 'custody.audit';
const AUDIT_AFTER_MS = 60_000;

/** The audit that follows a movement of coins: 60 s later, one for all movements until then. */
export function auditJob(merchantId: string, network: Network, nowMs: number): JobSpec {
  return auditJobAt(merchantId, network, nowMs + AUDIT_AFTER_MS);
}

/** @param dueAtMs real time, Unix milliseconds */
export function auditJobAt(merchantId: string, network: Network, dueAtMs: number): JobSpec {
  return {
    merchantId,
    kind: AUDIT_JOB,
    uniqueKey: network,
    dueAtMs,
    followsClock: true,
    payload: { network },
  };
}
