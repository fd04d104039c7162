import type { Network } from '@florin/contract/money';
import type { JobSpec } from '../platform/jobs/index.ts';

/** Compares final blocks once more with what was booked from them; payload `{ network }`. For whoever moves coins. */
export const AUDIT_JOB = 'custody.audit';
const AUDIT_AFTER_MS = 60_000;

export function auditJob(merchantId: string, network: Network, nowMs: number): JobSpec {
  return auditAtOnce(merchantId, network, nowMs + AUDIT_AFTER_MS);
}

/** The same where something is known to be wrong. */
export function auditAtOnce(merchantId: string, network: Network, dueAtMs: number): JobSpec {
  return {
    merchantId,
    kind: AUDIT_JOB,
    uniqueKey: network,
    dueAtMs,
    followsClock: true,
    payload: { network },
  };
}
